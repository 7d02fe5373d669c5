"""Holds a slot: holder.py FLEET POD MODE. What it does with it depends on the mode."""

from __future__ import annotations

import ctypes
import sys
import time

from lines import say

from fleetgate import Client, Lease, Pod
from fleetgate.keeper.child import ProcessBeater


def hold_the_lock(seconds: float) -> None:
    """A native call that keeps the interpreter lock: no other thread of this process runs."""
    ctypes.PyDLL(None).usleep(int(seconds * 1_000_000))


def work_until_lost(lease: Lease) -> None:
    lease.on_lost(lambda lost: say("called", lost.reason))
    while not lease.lost.is_set():
        time.sleep(0.02)
    say("lost", lease.reason)
    say("release", lease.release())


def keeper_pid(pod: Pod) -> int:
    beater = pod._core.beater
    assert isinstance(beater, ProcessBeater)
    assert beater._process is not None
    return beater._process.pid


def main() -> None:
    fleet, name, mode = sys.argv[1:4]
    pod = Client().fleet(fleet).join("eu", name, handle_signals=True)
    say("keeper", keeper_pid(pod))
    lease = pod.slot(wait=30)
    say("held", lease.id)
    if mode == "until-lost":
        work_until_lost(lease)
    elif mode == "lock":
        hold_the_lock(float(sys.argv[4]))
        say("lost" if lease.lost.is_set() else "kept", lease.reason)
        say("release", lease.release())
    elif mode == "until-closing":
        pod.closing.wait()
        say("closing", pod.state)
        time.sleep(float(sys.argv[4]))
        say("release", lease.release())
    pod.leave()
    say("end", pod.state)


main()
