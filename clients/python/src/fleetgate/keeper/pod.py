"""A pod in a fleet, beaten for until it leaves."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Callable

from ..errors import PodClosedError, ProblemError
from ..forks import renew_after_fork
from ..identity import child_pod
from ..ids import process_instance
from ..waiting import wait_for
from .acquire import SlotRequest, Wish
from .core import Core, PodState
from .couriers import Asking
from .exits import leave_at_exit
from .lease import GiveBack, Grant, Lease
from .options import Joining
from .presence import LeaveOutcome
from .shared import Boards, SharedLease, SharedToken
from .shutdown import on_signals


class Pod:
    """Made by `fleet.join()`. In a forked child it is another pod, `<pod>.<pid>`, which joins when first used."""

    def __init__(self, joining: Joining) -> None:
        self._core = Core(joining, self)
        self._boards = Boards()
        self._boards.add(self._core.board, self._core.check)
        self._renewing = threading.RLock()
        self._stop_listening: Callable[[], set[int]] = set
        # All of it before the first beat: from then on a signal may come, and what follows would not be done.
        if joining.options.handle_signals:
            self._stop_listening = on_signals(self._leave_soon, signal.SIGTERM)
        leave_at_exit(self)
        renew_after_fork(self)
        try:
            self._core.join()
        except BaseException:
            # Meant for a pod that is not there: the program must hear it instead.
            for number in self._stop_listening():
                os.kill(os.getpid(), number)
            raise

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self._core.joining.identity.cluster

    @property
    def pod(self) -> str:
        """The pod's name."""
        return self._core.joining.identity.pod

    @property
    def instance(self) -> str:
        """This run of the process."""
        return self._core.joining.identity.instance

    @property
    def fleet(self) -> str:
        """The fleet's name."""
        return self._core.joining.calls.name

    @property
    def state(self) -> PodState:
        """What the pod is doing."""
        return self._core.state

    @property
    def asked_to_drain(self) -> bool:
        """Whether the operator asks this pod to drain; the keeper does not act on it by itself."""
        return self._core.asked == "drain"

    @property
    def closing(self) -> threading.Event:
        """Set once the pod stops taking leases."""
        return self._core.closing

    @property
    def held(self) -> int:
        """How many leases are held, degraded ones included."""
        return len(self._core.leases)

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
        mine = asking or self.asking()
        core = self._here()
        ttl_ms = None if ttl is None else round(ttl * 1_000)
        wish = Wish(cls, ttl_ms, math.inf if wait is None else wait, request_id)
        request = SlotRequest(core.asker(), wish, mine)
        core.enter(mine)
        kept = False
        try:
            grant = request.wait()
            core.reach.granted(grant.held is None)
            lease = _keep_open(core, grant, on_lost, mine)
            kept = True
            return lease
        except ProblemError as error:
            if error.code == "stale-instance":
                core.replaced()
            raise
        finally:
            # Also what was granted while a signal's handler raised: nobody has that lease.
            if not kept and request.unsure:
                core.couriers.send(request.give_back, lambda: core.exit(mine))
            else:
                core.exit(mine)

    def asking(self) -> Asking:
        """A request that another thread may stop, for `slot()`."""
        return Asking(self._here().couriers)

    def keep(
        self,
        grant: Grant,
        on_lost: Callable[[Lease], None] | None = None,
        give_back: GiveBack | None = None,
    ) -> Lease:
        """Renews a lease that was granted by another call (a claimed task's) until it is released or lost.

        `give_back` replaces the release call; renewals go on until it returns.
        """
        return self._here().keep(grant, on_lost, give_back)

    def share(self, lease: Lease) -> SharedToken:
        """Which lease that is, for a child that was forked from this process after the pod joined."""
        return lease.share()

    def shared(self, token: Sequence[Any]) -> SharedLease:
        """The lease of a `share()`, as a forked child sees it; renewals and losses are known at the next look.

        Raises ValueError where this process was not forked from the one that holds it.
        """
        return self._boards.lease(SharedToken(*token))

    def renew(self, leases: list[str]) -> tuple[float, list[str]]:
        """Renews leases now, beside the beats: when that was sent, and those that are lost. May raise as any call."""
        return self._here().renew(leases)

    def replaced(self) -> None:
        """Ends everything, since another call heard that a newer process of the same name took over."""
        self._core.replaced()

    def ready(self) -> None:
        """Ends `starting`: from now on the pod counts as live. Raises PodClosedError once it is closed."""
        core = self._here()
        with core.changed:
            if core.closing.is_set():
                raise PodClosedError(core.state)
            core.state = "ready"
        core.beater.set_state("ready")

    def drain(self, wait: float | None = None) -> bool:
        """Takes no more leases and beats as draining; waits at most `wait` seconds until none is held; True if so."""
        core = self._here()
        core.close("draining")
        with core.changed:
            return wait_for(core.changed, lambda: not core.leases, wait)

    def leave(self, deadline: float | None = None) -> LeaveOutcome:
        """Ends every lease still held and takes the pod out of the count, within `deadline` seconds. Never raises."""
        if os.getpid() != self._core.pid:
            return "left"  # this process has no pod yet
        outcome = self._core.leave(deadline)
        self._stop_listening()
        return outcome

    def after_fork(self) -> None:
        """In a forked child: lets go of the parent's keeper. The child's own pod joins when first used."""
        self._renewing = threading.RLock()
        self._core.after_fork()

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
        return f"<Pod {self.cluster}/{self.pod} of {self.fleet}: {self.state}>"

    def _here(self) -> Core:
        """The pod's life in this process, begun now in a forked child."""
        if os.getpid() != self._core.pid:
            with self._renewing:
                if os.getpid() != self._core.pid:
                    joining = self._core.joining
                    names = joining.identity
                    own = replace(names, pod=child_pod(names.pod), instance=process_instance())
                    core = Core(replace(joining, identity=own), self)
                    leave_at_exit(self)
                    core.join()
                    self._core = core
                    self._boards.add(core.board, core.check)
        return self._core

    def _leave_soon(self, _: int) -> None:
        self.drain(self._core.joining.options.grace)
        self.leave()


def _keep_open(core: Core, grant: Grant, on_lost: Callable[[Lease], None] | None, wait: Asking) -> Lease:
    """Keeps a grant, unless it came too late: then it is given back."""
    lease = core.keep(grant, on_lost, None)
    if core.closing.is_set() or wait.is_stopped:
        lease.release()
        wait.raise_if_stopped()
        raise PodClosedError(core.state)
    return lease
