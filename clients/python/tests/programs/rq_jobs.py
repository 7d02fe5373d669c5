"""The jobs of RQ's tests. Each says what it does, and adds a line to the broker's list `ran:<id>`."""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from types import FrameType

from lines import say
from rq import get_current_job
from rq.exceptions import StopRequested

from fleetgate.rq import GatedWorker, Gating, current_lease


def _note(word: str) -> None:
    job = get_current_job()
    assert job is not None
    job.connection.rpush("notes", f"{word} {job.id}")
    say(word, job.id, os.getpid())


def work(seconds: float) -> str:
    """Takes so long, unless it is told that it lost its slot."""
    lease = current_lease()
    _note("start" if not lease.degraded else "start-degraded")
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if lease.lost.is_set():
            _note("lost")
            break
        time.sleep(0.02)
    else:
        _note("end")
    return "done"


def deaf(seconds: float) -> str:
    """Takes so long and looks at nothing."""
    _note("start")
    time.sleep(seconds)
    _note("end")
    return "done"


def lock(seconds: float) -> str:
    """Holds the interpreter lock for so long."""
    _note("start")
    ctypes.PyDLL(None).usleep(int(seconds * 1_000_000))
    lease = current_lease()
    _note("kept" if not lease.lost.is_set() else "lost")
    return "done"


def kill_worker() -> None:
    """Takes the worker down."""
    _note("start")
    os.kill(os.getppid(), 9)
    time.sleep(60)


def kill_self() -> None:
    """As the system's OOM killer does to the process that works."""
    _note("start")
    os.kill(os.getpid(), 9)


def fail() -> None:
    _note("start")
    raise RuntimeError("broken")


def until_told() -> str:
    """Goes on until somebody sets `go:<id>` in the broker, or it lost its slot."""
    job, lease = get_current_job(), current_lease()
    assert job is not None and lease is not None
    _note("start")
    while not job.connection.exists(f"go:{job.id}"):
        if lease.lost.is_set():
            _note("lost")
            return "nothing"
        time.sleep(0.05)
    _note("end")
    return "done"


class SlowStarter(GatedWorker):
    """Takes its time between joining the fleet and looking for jobs."""

    def register_birth(self) -> None:
        say("starting")
        time.sleep(2)
        super().register_birth()


class SlowWriter(GatedWorker):
    """Takes its time once RQ knows of it."""

    def subscribe(self) -> None:
        super().subscribe()
        say("starting")
        time.sleep(2)


class HardOfHearing(GatedWorker):
    """Loses what RQ's signal handler raises, as logging does when the signal comes while it writes a line."""

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        with contextlib.suppress(StopRequested):
            super().request_stop(signum, frame)


class HastyWorker(GatedWorker):
    """A job that lost its slot is killed soon, and one that killed two workers begins no more."""

    gating = Gating(lost_grace=0.5, max_deliveries=2)
