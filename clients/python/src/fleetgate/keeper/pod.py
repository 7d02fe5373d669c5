"""A pod in a fleet, beaten for until it leaves."""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import signal
import threading
import weakref
from collections.abc import Iterable
from dataclasses import replace
from types import TracebackType
from typing import Callable, Literal

from ..clock import now
from ..errors import FleetgateError, PodClosedError, ProblemError
from ..forks import renew_after_fork
from ..identity import child_pod
from ..ids import process_instance
from ..transport import Cut
from ..wire.fleets import BeatState, Directive
from .acquire import Asker, SlotRequest, Wish
from .beats import Beater
from .couriers import Asking, Couriers
from .held import HeldLease
from .lease import GiveBack, Grant, Lease, ReleaseOutcome
from .options import Joining, start_beater
from .shutdown import on_signals

PodState = Literal["ready", "starting", "draining", "left", "replaced"]
# How leaving ended; `unconfirmed` means the pod and its leases lapse by their ttl.
LeaveOutcome = Literal["left", "replaced", "unconfirmed"]
# The longest a release is tried; its lease lapses by its own ttl anyway.
_RELEASE_S = 10.0
# How long a call that was cut may take to end, and to give back what it was granted.
_CUT_S = 5.0
_pods: weakref.WeakSet[Pod] = weakref.WeakSet()


class Pod:
    """Made by `fleet.join()`. In a forked child it is another pod, `<pod>.<pid>`, which joins when first used."""

    _leases: list[Lease]
    _asking: list[Asking]
    _left: LeaveOutcome | None
    _state: PodState
    _directive: Directive

    def __init__(self, joining: Joining) -> None:
        self._joining = joining
        self._stop_listening: Callable[[], None] = lambda: None
        self._begin()
        if joining.options.handle_signals:
            self._stop_listening = on_signals(self._leave_soon, signal.SIGTERM)
        _pods.add(self)
        renew_after_fork(self)

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self._joining.identity.cluster

    @property
    def pod(self) -> str:
        """The pod's name."""
        return self._joining.identity.pod

    @property
    def instance(self) -> str:
        """This run of the process."""
        return self._joining.identity.instance

    @property
    def fleet(self) -> str:
        """The fleet's name."""
        return self._joining.calls.name

    @property
    def state(self) -> PodState:
        """What the pod is doing."""
        return self._state

    @property
    def asked_to_drain(self) -> bool:
        """Whether the operator asks this pod to drain; the keeper does not act on it by itself."""
        return self._directive == "drain"

    @property
    def closing(self) -> threading.Event:
        """Set once the pod stops taking leases."""
        return self._closing

    @property
    def held(self) -> int:
        """How many leases are held, degraded ones included."""
        with self._changed:
            return len(self._leases)

    def slot(
        self,
        *,
        cls: str | None = None,
        wait: float | None = 0,
        ttl: float | None = None,
        request_id: str | None = None,
        on_lost: Callable[[Lease], None] | None = None,
        asking: Asking | None = None,
    ) -> Lease:
        """Waits at most `wait` seconds (None: without end) for a slot of class `cls`, by default `normal`.

        `ttl` in seconds replaces the fleet's own. `asking` lets another thread stop the wait.
        Raises NotGrantedError, PodClosedError, ProblemError, or UnavailableError when closed.
        """
        self._here()
        mine = asking or self.asking()
        ttl_ms = None if ttl is None else round(ttl * 1_000)
        wish = Wish(cls, ttl_ms, math.inf if wait is None else wait, request_id)
        request = SlotRequest(self._asker(), wish, mine)
        self._enter(mine)
        granted = False
        try:
            grant = request.wait()
            granted = True
            return self._keep_open(grant, on_lost, mine)
        except ProblemError as error:
            if error.code == "stale-instance":
                self.replaced()
            raise
        finally:
            if not granted and request.unsure:
                self._couriers.send(request.give_back, lambda: self._exit(mine))
            else:
                self._exit(mine)

    def keep(
        self,
        grant: Grant,
        on_lost: Callable[[Lease], None] | None = None,
        give_back: GiveBack | None = None,
    ) -> Lease:
        """Renews a lease that was granted by another call (a claimed task's) until it is released or lost.

        `give_back` replaces the release call; renewals go on until it returns.
        """
        lease = Lease(grant, self, on_lost, give_back or self.give_back)
        with self._changed:
            self._leases.append(lease)
        if grant.held is not None:
            self._beater.hold(grant.held)
        return lease

    def asking(self) -> Asking:
        """A request that another thread may stop, for `slot()`."""
        self._here()
        return Asking(self._couriers)

    def ready(self) -> None:
        """Ends `starting`: from now on the pod counts as live. Raises PodClosedError once it is closed."""
        self._here()
        with self._changed:
            if self._closing.is_set():
                raise PodClosedError(self._state)
            self._state = "ready"
        self._beater.set_state("ready")

    def drain(self, wait: float | None = None) -> bool:
        """Takes no more leases and beats as draining; waits at most `wait` seconds until none is held; True if so."""
        self._close("draining")
        with self._changed:
            return self._changed.wait_for(lambda: not self._leases, wait)

    def leave(self, deadline: float | None = None) -> LeaveOutcome:
        """Ends every lease still held and takes the pod out of the count, within `deadline` seconds. Never raises."""
        if os.getpid() != self._pid:
            return "left"
        with self._leaving:
            if self._left is None:
                self._left = self._leave(deadline)
            return self._left

    def renew(self, leases: list[str]) -> tuple[float, list[str]]:
        """Renews leases now, beside the beats: when that was sent, and those that are lost. May raise as any call."""
        sent_at = now()
        state: BeatState = "draining" if self._closing.is_set() else self._beat_state()
        answer = self._joining.beat(state, leases, None)
        return sent_at, answer["lost"]

    def __enter__(self) -> Pod:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()

    def __repr__(self) -> str:
        return f"<Pod {self.cluster}/{self.pod} of {self.fleet}: {self._state}>"

    # What a lease asks of its pod (LeaseKeeper).

    def check(self) -> None:
        """Judges the deadlines of all leases by the clock of this moment."""
        self._beater.check()

    def give_back(self, held: HeldLease) -> ReleaseOutcome:
        """Ends renewing and releases a slot. Never raises."""
        self._beater.drop(held.id)
        try:
            deadline = min(held.ttl, _RELEASE_S)
            answer = self._joining.calls.release(leases=[held.id], deadline=deadline)
        except FleetgateError:
            return "unconfirmed"
        return "released" if held.id in answer["released"] else "missing"

    def ended(self, lease: Lease) -> None:
        """Forgets a lease."""
        with self._changed:
            if lease in self._leases:
                self._leases.remove(lease)
            self._changed.notify_all()
        if lease.id is not None:
            self._beater.drop(lease.id)

    def tell(self, run: Callable[[], None]) -> None:
        """Runs a caller's function in a thread of its own: what it raises or how long it takes is not the keeper's."""
        # RuntimeError: the interpreter is ending, and so is whoever would listen.
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=run, name="fleetgate-callback", daemon=True).start()

    # What the beater tells (BeaterEvents).

    def lost(self, lease_id: str, reason: str) -> None:
        """A lease is lost."""
        with self._changed:
            found = [lease for lease in self._leases if lease.id == lease_id]
        for lease in found:
            lease.lose(reason)

    def renewed(self, ids: Iterable[str], sent_at: float) -> None:
        """The beater keeps the deadlines itself."""

    def directive(self, directive: Directive) -> None:
        """The operator's word; told when it becomes `drain`."""
        news = directive != self._directive
        self._directive = directive
        on_drain = self._joining.options.on_drain
        if news and directive == "drain" and on_drain is not None:
            self.tell(lambda: on_drain(self))

    def replaced(self) -> None:
        """A newer process of the same name took over; every lease is lost."""
        if self._state in ("replaced", "left"):
            return
        self._close("replaced")
        self._lose_all("replaced")
        on_replaced = self._joining.options.on_replaced
        if on_replaced is not None:
            self.tell(lambda: on_replaced(self))

    def failed(self, error: Exception, failures: int) -> None:
        """A beat failed, for the n-th time in a row."""
        on_beat_error = self._joining.options.on_beat_error
        if on_beat_error is not None:
            self.tell(lambda: on_beat_error(error, failures))

    def after_fork(self) -> None:
        """In a forked child: lets go of the parent's keeper and locks. The child's own pod joins when first used."""
        self._beater.after_fork()
        self._changed = threading.Condition()
        self._leaving = threading.RLock()
        self._leases = []
        self._couriers = Couriers()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._leaving = threading.RLock()
        self._closing = threading.Event()
        self._leases = []
        self._asking = []
        self._couriers = Couriers()
        self._cut = Cut()
        self._left = None
        self._state = self._joining.options.state
        self._directive = "run"
        start = self._joining.first_beat()
        self._beater: Beater = start_beater(self._joining, start.begin, self)
        self.directive(start.directive)

    def _here(self) -> None:
        if os.getpid() == self._pid:
            return
        identity = self._joining.identity
        own = replace(identity, pod=child_pod(identity.pod), instance=process_instance())
        self._joining = replace(self._joining, identity=own)
        self._begin()

    def _asker(self) -> Asker:
        joining = self._joining
        return Asker(
            joining.calls,
            joining.identity,
            joining.on_unavailable,
            joining.options.unavailable_after,
            joining.settings.timeout,
            self._cut,
            self.renew,
        )

    def _keep_open(self, grant: Grant, on_lost: Callable[[Lease], None] | None, asking: Asking) -> Lease:
        lease = self.keep(grant, on_lost)
        if self._closing.is_set() or asking.is_stopped:
            lease.release()
            asking.raise_if_stopped()
            raise PodClosedError(self._state)
        return lease

    def _beat_state(self) -> BeatState:
        return "starting" if self._state == "starting" else "ready"

    def _enter(self, asking: Asking) -> None:
        with self._changed:
            if self._closing.is_set():
                raise PodClosedError(self._state)
            self._asking.append(asking)

    def _exit(self, asking: Asking) -> None:
        with self._changed:
            if asking in self._asking:
                self._asking.remove(asking)
            self._changed.notify_all()

    def _close(self, state: Literal["draining", "left", "replaced"]) -> None:
        with self._changed:
            if self._closing.is_set() and state == "draining":
                return
            self._state = state
            self._closing.set()
            waiting = list(self._asking)
        for asking in waiting:
            asking.stop(PodClosedError(state))
        if state == "draining":
            self._beater.set_state("draining")

    def _lose_all(self, reason: str) -> None:
        with self._changed:
            leases = list(self._leases)
        for lease in leases:
            lease.lose(reason)

    def _leave(self, deadline: float | None) -> LeaveOutcome:
        was_replaced = self._state == "replaced"
        if not was_replaced:
            self._close("left")
        self._cut.cut()
        with self._changed:
            self._changed.wait_for(lambda: not self._asking, _CUT_S if deadline is None else deadline)
        self._beater.stop()
        self._lose_all("left")
        self._stop_listening()
        if was_replaced:
            return "replaced"
        try:
            self._joining.calls.leave(**vars(self._joining.identity), deadline=deadline)
        except FleetgateError:
            return "unconfirmed"
        return "left"

    def _leave_soon(self, _: int) -> None:
        self.drain(self._joining.options.grace)
        self.leave()


def _leave_all() -> None:
    for pod in list(_pods):
        pod.leave(deadline=2.0)


atexit.register(_leave_all)
