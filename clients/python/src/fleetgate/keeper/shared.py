"""A lease that another process holds: a forked child's view of its parent's."""

from __future__ import annotations

import os
from typing import Callable, NamedTuple

from ..clock import now
from .board import Board, Cell, loose_cell
from .lost import LeaseView, watch


class SharedToken(NamedTuple):
    """Which lease, for a child of the process that holds it; JSON may carry it as a list."""

    pid: int
    cell: int
    serial: int
    id: str | None
    cls: str


class SharedLease(LeaseView):
    """Follows a lease: the parent's renewals and losses are known here at the next look."""

    def __init__(self, token: SharedToken, cell: Cell, refresh: Callable[[], None] = lambda: None) -> None:
        super().__init__(token.id, token.cls)
        self._cell = cell
        self._refresh = refresh
        self._over = False

    def on_lost(self, run: Callable[[SharedLease], None]) -> None:
        """Calls `run(lease)` once, in a thread of its own, if the lease is lost before `end()`."""
        watch(self.lost, lambda: run(self), lambda: self._over)

    def end(self) -> None:
        """The work is over: that the parent then gives the lease back is no loss, and nobody is told."""
        self._judge()
        self._over = True

    def _judge(self) -> None:
        # What was lost stays lost, though its cell is another lease's by now.
        if self._reason is None and not self._over:
            self._refresh()
            self._found_lost(self._cell.reason(now()))


class Boards:
    """The boards of this process and of those it was forked from. `refresh` hears what the keeper has told."""

    def __init__(self) -> None:
        self._boards: dict[int, tuple[Board, Callable[[], None]]] = {}

    def add(self, board: Board, refresh: Callable[[], None]) -> None:
        """That of this process."""
        self._boards[board.pid] = (board, refresh)

    def lease(self, token: SharedToken) -> SharedLease:
        """The lease of a token, as this process sees it; raises ValueError where it sees none."""
        if token.pid not in self._boards:
            raise ValueError(f"process {token.pid} holds that lease, and this one was not forked from it")
        board, refresh = self._boards[token.pid]
        # One of too many is on no board: nothing is known of it here but that it was held.
        cell = board.cell(token.cell, token.serial) if token.cell >= 0 else loose_cell(token.serial)
        # In the process that holds it renewals may lie unread in the keeper's pipe.
        return SharedLease(token, cell, refresh) if token.pid == os.getpid() else SharedLease(token, cell)


def without_slot() -> SharedLease:
    """Stands for a lease where there is no gate, as where a test calls a task's function: degraded, and never lost."""
    lease = SharedLease(SharedToken(os.getpid(), -1, 1, None, "normal"), loose_cell(1))
    lease.end()
    return lease
