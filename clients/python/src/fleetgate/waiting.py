"""Waiting in pieces: only the main thread runs signal handlers, and a signal that reached another does not wake it."""

from __future__ import annotations

import threading
from typing import Callable

from .clock import now

# How late a signal may be heard, in seconds.
PIECE_S = 0.5


def wait_for(condition: threading.Condition, is_so: Callable[[], bool], seconds: float | None = None) -> bool:
    """Waits, with the condition's lock held, until `is_so()`, at most `seconds`; whether it is so then."""
    ends = None if seconds is None else now() + seconds
    while not is_so():
        left = PIECE_S if ends is None else ends - now()
        if left <= 0:
            return False
        condition.wait(min(left, PIECE_S))
    return True
