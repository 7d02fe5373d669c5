"""A slot or a task, renewed by the keeper until it is given back or lost."""

from __future__ import annotations

import functools
import math
import os
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Callable, Literal, Protocol

from ..clock import now
from .board import Cell
from .held import HeldLease
from .lost import LeaseView
from .shared import SharedToken

# How giving back ended: `missing`, it had ended at the coordinator; `lost` and `degraded`, nothing was sent;
# `inherited`, this is a forked child and the lease is its parent's; `unconfirmed`, no answer came and the slot is free
# by its ttl at the latest.
ReleaseOutcome = Literal["released", "missing", "lost", "degraded", "inherited", "unconfirmed"]


@dataclass(frozen=True)
class Grant:
    """What was granted; `held` is None when the coordinator is out of reach and the pod goes on without a slot."""

    cls: str
    request_id: str
    held: HeldLease | None


# Gives a lease back to the coordinator; must not raise.
GiveBack = Callable[[HeldLease], ReleaseOutcome]


class LeaseKeeper(Protocol):
    """What a lease needs of its pod."""

    def check(self) -> None:
        """Judges deadlines now; may call the lease's own `lose`."""

    def ended(self, lease: Lease) -> None:
        """The lease has ended, one way or another."""

    def tell(self, run: Callable[[], None]) -> None:
        """Runs a caller's function in a thread of its own."""


class Lease(LeaseView):
    """Ends once: by the first of `release()` and its loss. Usable with `with`; leaving it gives the slot back."""

    def __init__(
        self,
        grant: Grant,
        keeper: LeaseKeeper,
        on_lost: Callable[[Lease], None] | None,
        give_back: GiveBack,
        cell: Cell,
    ) -> None:
        super().__init__(grant.held.id if grant.held else None, grant.cls)
        self._held = grant.held
        self._keeper = keeper
        self._give_back = give_back
        self.cell = cell
        cell.begin(math.inf if grant.held is None else min(grant.held.deadline, grant.held.until))
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._callbacks = [on_lost] if on_lost else []
        self._outcome: ReleaseOutcome = "unconfirmed"
        self._releasing = False
        self._released = threading.Event()
        self.request_id = grant.request_id
        # Seconds it lives after a renewal; None when degraded.
        self.ttl: float | None = grant.held.ttl if grant.held else None

    def on_lost(self, run: Callable[[Lease], None]) -> None:
        """Calls `run(lease)` once, in a thread of its own, if the lease is lost; at once if it is already."""
        if os.getpid() != self._pid:
            super().on_lost(run)
            return
        with self._lock:
            if self._reason is None:
                self._callbacks.append(run)
                return
        self._keeper.tell(functools.partial(run, self))

    def release(self) -> ReleaseOutcome:
        """Gives the slot back, once. Never raises."""
        if os.getpid() != self._pid:
            return "inherited"
        self._keeper.check()
        with self._lock:
            if self._reason is not None:
                return "lost"
            first = not self._releasing
            self._releasing = True
        if first:
            try:
                self._outcome = "degraded" if self._held is None else self._give_back(self._held)
            finally:
                # Interrupted too, by Ctrl-C for one: nobody else may wait for it for ever.
                self.cell.end()
                self._released.set()
                self._keeper.ended(self)
        self._released.wait()
        return self._outcome

    def lose(self, reason: str) -> bool:
        """Says that it is lost; for the keeper. False if it had ended before."""
        with self._lock:
            if self._releasing or self._reason is not None:
                return False
            self._reason = reason
            callbacks, self._callbacks = self._callbacks, []
        self.cell.lose(reason)
        self.lost.set()
        for run in callbacks:
            self._keeper.tell(functools.partial(run, self))
        self._keeper.ended(self)
        return True

    def renewed(self, sent_at: float) -> None:
        """Counts its ttl from the moment the renewal was sent; for the keeper."""
        if self._held is not None:
            self._held = self._held.renewed(sent_at)
            self.cell.renew(self._held.deadline)

    def share(self) -> SharedToken:
        """Which lease this is, for a child forked from this process after the pod joined (see `pod.shared()`)."""
        return SharedToken(self._pid, self.cell.number, self.cell.serial, self.id, self.cls)

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def __repr__(self) -> str:
        state = "lost" if self._reason else "degraded" if self.degraded else "held"
        return f"<Lease {self.cls} {state}>"

    def _judge(self) -> None:
        if os.getpid() == self._pid:
            self._keeper.check()
        elif self._reason is None:
            # A forked child has no keeper for what its parent holds, but sees what that one writes.
            self._found_lost(self.cell.reason(now()))
