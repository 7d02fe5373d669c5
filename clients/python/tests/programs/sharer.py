"""Holds a slot whose lease a forked child follows: sharer.py FLEET. The child obeys the words it reads."""

from __future__ import annotations

import json
import os
import sys
import warnings

from lines import say

from fleetgate import Client, Lease
from fleetgate.keeper.shared import SharedLease


def look(inherited: Lease, shared: SharedLease) -> None:
    say("inherited", inherited.reason or "held")
    say("shared", shared.reason or f"held {shared.id}")


def main() -> None:
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # forking a process that has threads: that is the point
    pod = Client().fleet(sys.argv[1]).join("eu", "w-0")
    token_read, token_write = os.pipe()
    words_read, words_write = os.pipe()
    lease = pod.slot(wait=10)
    if os.fork() == 0:
        os.close(words_write)
        shared = pod.shared(json.loads(os.read(token_read, 4_096)))
        shared.on_lost(lambda lost: say("called", lost.reason))
        for word in os.fdopen(words_read):
            if word.strip() == "look":
                look(lease, shared)
        os._exit(0)
    os.close(words_read)
    os.write(token_write, json.dumps(pod.share(lease)).encode())
    say("held", lease.id)
    for line in sys.stdin:
        if line.strip() == "again":
            lease.release()
            say("again", pod.slot(wait=10).id)
        elif line.strip() == "end":
            break
        else:
            os.write(words_write, line.encode())
    os.close(words_write)
    code = os.wait()[1]
    pod.leave()
    sys.exit(code)


main()
