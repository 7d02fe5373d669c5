"""Pods leave when the process ends."""

from __future__ import annotations

import atexit
import weakref
from typing import Protocol

_LEAVE_S = 2.0


class Leaver(Protocol):
    """What leaves within `deadline` seconds, and does not raise."""

    def leave(self, deadline: float | None = None) -> object: ...


_leavers: weakref.WeakSet[Leaver] = weakref.WeakSet()


def leave_at_exit(leaver: Leaver) -> None:
    """Calls `leave()` when the process ends, if it is still there."""
    _leavers.add(leaver)


def _leave_all() -> None:
    for leaver in list(_leavers):
        leaver.leave(_LEAVE_S)


atexit.register(_leave_all)
