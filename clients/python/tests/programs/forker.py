"""Uses a client and a pod in 8 forked children at once: forker.py FLEET."""

from __future__ import annotations

import os
import sys
import warnings

from lines import say

from fleetgate import Client

CHILDREN = 8
client = Client()  # made at import, as in a prefork worker


def child(fleet: str, read: int) -> None:
    pod = client.fleet(fleet).own_pod()
    for _ in range(5):
        with client.fleet(fleet).slot(cls="high", wait=30) as lease:
            lease.check()
    say("child", pod.pod, pod.instance)
    os.read(read, 1)
    pod.leave()


def main() -> None:
    fleet = client.fleet(sys.argv[1])
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # forking a process that has threads: that is the point
    fleet.status()
    parent = fleet.join("eu", "parent")
    inherited = parent.slot(cls="high", wait=30)
    read, write = os.pipe()
    pids = []
    for number in range(CHILDREN):
        pid = os.fork()
        if pid == 0:
            os.close(write)
            if number == 0:
                say("inherited", inherited.release(), parent.pod)
                with parent.slot(cls="high", wait=30):
                    say("own", parent.pod)
                parent.leave()
            child(sys.argv[1], read)
            os._exit(0)
        pids.append(pid)
    say("parent", parent.pod, parent.instance)
    os.close(read)
    sys.stdin.read()
    os.close(write)
    codes = [os.waitpid(pid, 0)[1] for pid in pids]
    inherited.check()
    say("codes", codes, "release", inherited.release())
    parent.leave()


main()
