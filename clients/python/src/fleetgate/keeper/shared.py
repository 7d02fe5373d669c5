"""A lease that another process holds: a forked child's view of its parent's."""

from __future__ import annotations

import os
from typing import Callable, NamedTuple

from ..clock import now
from ..errors import LeaseLostError
from .board import Cell, loose_cell
from .lost import LostEvent, watch


class SharedToken(NamedTuple):
    """Which lease, for a child of the process that holds it; JSON may carry it as a list."""

    pid: int
    cell: int
    serial: int
    id: str | None
    cls: str


class SharedLease:
    """Follows a lease: the parent's renewals and losses are known here at the next look."""

    def __init__(self, token: SharedToken, cell: Cell, refresh: Callable[[], None] = lambda: None) -> None:
        self.id = token.id
        self.cls = token.cls
        # True when the coordinator was out of reach and the parent goes on without a slot.
        self.degraded = token.id is None
        self.lost = LostEvent(self._judge)
        self._cell = cell
        self._refresh = refresh
        self._reason: str | None = None
        self._over = False

    @property
    def reason(self) -> str | None:
        """Why the lease was lost (see LeaseLostError), None while it is not."""
        self._judge()
        return self._reason

    def check(self) -> None:
        """Raises LeaseLostError if the lease is lost. Call it before writing a result."""
        if self.lost.is_set():
            raise LeaseLostError(self.id, self._reason or "silence")

    def on_lost(self, run: Callable[[SharedLease], None]) -> None:
        """Calls `run(lease)` once, in a thread of its own, if the lease is lost."""
        watch(self.lost, lambda: run(self), lambda: self._over)

    def end(self) -> None:
        """The work is over: that the parent then gives the lease back is no loss, and nobody is told."""
        self._judge()
        self._over = True

    def _judge(self) -> None:
        # What was lost stays lost, though its cell is another lease's by now.
        if self._reason is None and not self._over:
            self._refresh()
            self._reason = self._cell.reason(now())
            if self._reason is not None:
                self.lost.set()


def without_slot() -> SharedLease:
    """Stands for a lease where there is no gate, as where a test calls a task's function: degraded, and never lost."""
    lease = SharedLease(SharedToken(os.getpid(), -1, 1, None, "normal"), loose_cell(1))
    lease.end()
    return lease
