"""The event of a lease's loss."""

from __future__ import annotations

import threading
from typing import Callable

from ..clock import now
from ..waiting import PIECE_S


class LostEvent(threading.Event):
    """Set when the lease is lost; `is_set()` judges the clock of this moment, even after the process was stopped."""

    def __init__(self, check: Callable[[], None]) -> None:
        super().__init__()
        self._check = check

    def is_set(self) -> bool:
        """Whether the lease is lost."""
        self._check()
        return super().is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits at most `timeout` seconds for the loss; whether it is lost then."""
        ends = None if timeout is None else now() + timeout
        while not self.is_set():
            left = PIECE_S if ends is None else ends - now()
            if left <= 0:
                return False
            super().wait(min(left, PIECE_S))
        return True


def watch(lost: LostEvent, run: Callable[[], None], is_over: Callable[[], bool] = lambda: False) -> None:
    """Calls `run()` once, from a thread of its own, when the lease is lost; never once the work on it `is_over`."""

    def watching() -> None:
        while not lost.wait(PIECE_S):
            if is_over():
                return
        run()

    threading.Thread(target=watching, name="fleetgate-lost", daemon=True).start()
