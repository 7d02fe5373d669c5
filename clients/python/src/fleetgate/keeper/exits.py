"""Pods leave when the process ends."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Protocol

from ..forks import is_multiprocessing_child
from .shutdown import undisturbed

_LEAVE_S = 2.0


class Leaver(Protocol):
    """What leaves within `deadline` seconds, and does not raise."""

    def leave(self, deadline: float | None = None) -> object: ...


_leavers: weakref.WeakSet[Leaver] = weakref.WeakSet()
# The process whose end `multiprocessing` was asked to tell.
_told_by_multiprocessing = 0


def leave_at_exit(leaver: Leaver) -> None:
    """Calls `leave()` when the process ends, if it is still there."""
    global _told_by_multiprocessing
    _leavers.add(leaver)
    # Many a Python ends such a child without `atexit`.
    if is_multiprocessing_child() and _told_by_multiprocessing != os.getpid():
        from multiprocessing.util import Finalize

        _told_by_multiprocessing = os.getpid()
        Finalize(None, _leave_all, exitpriority=0)


def _leave_all() -> None:
    with undisturbed():
        for leaver in list(_leavers):
            leaver.leave(_LEAVE_S)


atexit.register(_leave_all)
