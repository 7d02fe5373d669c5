"""The loss of a lease, as whoever works under it hears of it."""

from __future__ import annotations

import threading
from typing import Callable, TypeVar

from ..clock import now
from ..errors import LeaseLostError
from ..waiting import PIECE_S

V = TypeVar("V", bound="LeaseView")


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


class LeaseView:
    """A lease as its work sees it, whoever renews it; `_judge()` looks whether it is lost."""

    def __init__(self, lease_id: str | None, cls: str) -> None:
        self.id = lease_id
        self.cls = cls
        # True when the coordinator was out of reach and the pod goes on without a slot.
        self.degraded = lease_id is None
        self.lost = LostEvent(self._judge)
        self._reason: str | None = None

    @property
    def reason(self) -> str | None:
        """Why the lease was lost (see LeaseLostError), None while it is not."""
        self._judge()
        return self._reason

    def check(self) -> None:
        """Raises LeaseLostError if the lease is lost, by the clock of this moment. Call it before writing a result."""
        if self.lost.is_set():
            raise LeaseLostError(self.id, self._reason or "silence")

    def on_lost(self: V, run: Callable[[V], None]) -> None:
        """Calls `run(lease)` once, in a thread of its own, if the lease is lost; at once if it is already."""
        watch(self.lost, lambda: run(self))

    def _judge(self) -> None:
        raise NotImplementedError

    def _found_lost(self, reason: str | None) -> None:
        if reason is not None:
            self._reason = reason
            self.lost.set()
