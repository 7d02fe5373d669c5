"""A pod's life in one process: its leases, its waits and its beats. A forked child begins another."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Callable, Literal

from ..clock import now
from ..errors import FleetgateError, PodClosedError
from ..transport import Cut
from ..wire.fleets import BeatState, Directive
from .acquire import Asker
from .beats import Beater
from .board import Board
from .couriers import Asking, Couriers
from .held import HeldLease
from .lease import GiveBack, Grant, Lease, ReleaseOutcome
from .options import Joining
from .presence import LeaveOutcome, Presence
from .reach import Reach

if TYPE_CHECKING:
    from .pod import Pod

PodState = Literal["ready", "starting", "draining", "left", "replaced"]
# The longest a release is tried; its lease lapses by its own ttl anyway.
_RELEASE_S = 10.0
_BREAK_OFF_S = 2.0
# How long a call that was cut may take to end, and to give back what it was granted.
_CUT_S = 5.0


class Core:
    """What leases (LeaseKeeper) and beats (BeaterEvents) know of their pod."""

    def __init__(self, joining: Joining, pod: Pod) -> None:
        self.pid = os.getpid()
        self.joining = joining
        self.state: PodState = joining.options.state
        self.asked: Directive = "run"
        self.closing = threading.Event()
        self.couriers = Couriers()
        self.cut = Cut()
        self.changed = threading.Condition()
        self.leases: list[Lease] = []
        self.board = Board()
        self.reach = Reach(joining.settings.url)
        self._pod = pod
        self._waits: list[Asking] = []
        self._presence = Presence(joining, self.couriers, self)
        self._leaving = threading.RLock()
        self._left: LeaveOutcome | None = None

    @property
    def beater(self) -> Beater:
        """What beats for it."""
        return self._presence.beater

    def join(self) -> None:
        """Begins to count as live; raises ProblemError, or UnavailableError when closed."""
        try:
            self.directive(self._presence.begin())
        except BaseException:
            # Interrupted, by Ctrl-C for one, unless it was refused: nobody will have this pod. A thread of its own, so
            # that no second signal cuts this short.
            self.couriers.send(lambda: self.leave(_BREAK_OFF_S)).result()
            raise

    def leave(self, deadline: float | None) -> LeaveOutcome:
        """Ends every lease and takes the pod out of the count. Never raises; may be called again."""
        with self._leaving:
            if self._left is None:
                self._left = self._leave(deadline)
            return self._left

    # What a lease asks of its pod.

    def check(self) -> None:
        """Judges the deadlines of all leases by the clock of this moment."""
        self.beater.check()

    def ended(self, lease: Lease) -> None:
        """Forgets a lease."""
        with self.changed:
            if lease in self.leases:
                self.leases.remove(lease)
                self.board.give_back(lease.cell)
            self.changed.notify_all()
        if lease.id is not None:
            self.beater.drop(lease.id)

    def tell(self, run: Callable[[], None]) -> None:
        """Runs a caller's function in a thread of its own: what it raises or how long it takes is not the keeper's."""
        # RuntimeError: the interpreter is ending, and so is whoever would listen.
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=run, name="fleetgate-callback", daemon=True).start()

    # What the beater tells.

    def lost(self, lease_id: str, reason: str) -> None:
        """A lease is lost."""
        with self.changed:
            found = [lease for lease in self.leases if lease.id == lease_id]
        for lease in found:
            lease.lose(reason)

    def renewed(self, ids: Iterable[str], sent_at: float) -> None:
        """The beater judges the deadlines itself; forked children are shown them."""
        renewed = set(ids)
        with self.changed:
            found = [lease for lease in self.leases if lease.id in renewed]
        for lease in found:
            lease.renewed(sent_at)

    def directive(self, directive: Directive) -> None:
        """The operator's word; told when it becomes `drain`."""
        news = directive != self.asked
        self.asked = directive
        on_drain = self.joining.options.on_drain
        if news and directive == "drain" and on_drain is not None:
            self.tell(lambda: on_drain(self._pod))

    def replaced(self) -> None:
        """A newer process of the same name took over; every lease is lost."""
        if self.state in ("replaced", "left"):
            return
        self.close("replaced")
        self.lose_all("replaced")
        on_replaced = self.joining.options.on_replaced
        if on_replaced is not None:
            self.tell(lambda: on_replaced(self._pod))

    def failed(self, error: Exception, failures: int) -> None:
        """A beat failed, for the n-th time in a row."""
        on_beat_error = self.joining.options.on_beat_error
        if on_beat_error is not None:
            self.tell(lambda: on_beat_error(error, failures))

    # What the pod does.

    def keep(
        self, grant: Grant, on_lost: Callable[[Lease], None] | None, give_back: GiveBack | None
    ) -> Lease:
        """Renews a lease until it is released or lost."""
        lease = Lease(grant, self, on_lost, give_back or self._release, self.board.take())
        with self.changed:
            self.leases.append(lease)
        if grant.held is not None:
            self.beater.hold(grant.held)
        return lease

    def renew(self, leases: list[str]) -> tuple[float, list[str]]:
        """Renews leases now, beside the beats: when that was sent, and those that are lost."""
        sent_at = now()
        state: BeatState = "starting" if self.state == "starting" else "ready"
        answer = self.joining.beat("draining" if self.closing.is_set() else state, leases, None)
        return sent_at, answer["lost"]

    def asker(self) -> Asker:
        """What asking for a slot needs."""
        joining = self.joining
        return Asker(
            joining.calls,
            joining.identity,
            joining.on_unavailable,
            joining.options.unavailable_after,
            joining.settings.timeout,
            self.cut,
            self.renew,
        )

    def enter(self, wait: Asking) -> None:
        """A wait for a slot begins; raises PodClosedError when the pod takes no more."""
        with self.changed:
            if self.closing.is_set():
                raise PodClosedError(self.state)
            self._waits.append(wait)

    def exit(self, wait: Asking) -> None:
        """A wait has ended, and what it may have been granted unheard is given back."""
        with self.changed:
            if wait in self._waits:
                self._waits.remove(wait)
            self.changed.notify_all()

    def wait_for_waits(self, seconds: float) -> None:
        """Until every wait has ended."""
        with self.changed:
            self.changed.wait_for(lambda: not self._waits, seconds)

    def close(self, state: Literal["draining", "left", "replaced"]) -> None:
        """Takes no more leases from now on."""
        with self.changed:
            if self.closing.is_set() and state == "draining":
                return
            self.state = state
            self.closing.set()
            waits = list(self._waits)
        for wait in waits:
            wait.stop(PodClosedError(state))
        if state == "draining":
            self.beater.set_state("draining")

    def lose_all(self, reason: str) -> None:
        """Every lease still held is lost."""
        with self.changed:
            leases = list(self.leases)
        for lease in leases:
            lease.lose(reason)

    def after_fork(self) -> None:
        """In a forked child: lets go of what is the parent's. Its locks may be held for ever, so they are made anew."""
        self.beater.after_fork()
        self.changed = threading.Condition()
        self.leases = []

    def _leave(self, deadline: float | None) -> LeaveOutcome:
        was_replaced = self.state == "replaced"
        if not was_replaced:
            self.close("left")
        self.cut.cut()
        self.wait_for_waits(_CUT_S if deadline is None else deadline)
        self._presence.end(deadline)
        self.lose_all("left")
        return "replaced" if was_replaced else self._presence.leave(deadline)

    def _release(self, held: HeldLease) -> ReleaseOutcome:
        """Ends renewing and releases a slot. Never raises."""
        self.beater.drop(held.id)
        deadline = min(held.ttl, _RELEASE_S)
        release = partial(self.joining.calls.release, leases=[held.id], deadline=deadline)
        try:
            answer = release()
        except FleetgateError:
            return "unconfirmed"
        except BaseException:
            # Interrupted, by Ctrl-C for one: the slot is free all the same.
            self.couriers.send(release)
            raise
        return "released" if held.id in answer["released"] else "missing"
