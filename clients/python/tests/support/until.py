"""Waits for something to become true, by looking."""

from __future__ import annotations

import time
from typing import Callable, TypeVar

T = TypeVar("T")


def until(look: Callable[[], T], what: str, seconds: float = 15.0) -> T:
    """The first true value of `look`; fails the test when there is none in time."""
    ends = time.monotonic() + seconds
    while True:
        value = look()
        if value:
            return value
        if time.monotonic() > ends:
            raise AssertionError(f"not in {seconds} s: {what}")
        time.sleep(0.02)


def took(work: Callable[[], object]) -> float:
    """How many seconds it takes."""
    started = time.monotonic()
    work()
    return time.monotonic() - started
