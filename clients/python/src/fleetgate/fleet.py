"""One fleet: its calls and the keeper."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Callable, Literal

from .calls.fleets import FleetCalls
from .errors import UnsupportedError
from .forks import renew_after_fork
from .identity import make_identity
from .keeper.lease import Lease
from .keeper.options import Joining, JoinOptions, Keeper
from .keeper.pod import Pod
from .keeper.shutdown import can_listen
from .sender import Sender
from .settings import ON_UNAVAILABLE, seconds


class Joined:
    """The pods that a client joined by itself, one a fleet; a forked child has its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pods: dict[str, Pod] = {}
        renew_after_fork(self)

    def get(self, fleet: str, join: Callable[[], Pod]) -> Pod:
        """The pod of a fleet, joined now if there is none that takes leases."""
        with self._lock:
            pod = self._pods.get(fleet)
            if pod is None or pod.state in ("left", "replaced"):
                pod = self._pods[fleet] = join()
            return pod

    def after_fork(self) -> None:
        """Forgets the parent's pods."""
        self._lock = threading.Lock()
        self._pods = {}


class Fleet(FleetCalls):
    """The calls of one fleet, and the joining of it."""

    def __init__(self, send: Sender, name: str, joined: Joined, has_own_transport: bool) -> None:
        super().__init__(send, name)
        self._sender = send
        self._joined = joined
        self._has_own_transport = has_own_transport

    def join(
        self,
        cluster: str | None = None,
        pod: str | None = None,
        *,
        instance: str | None = None,
        slots: int | None = None,
        labels: Mapping[str, str] | None = None,
        state: Literal["ready", "starting"] = "ready",
        keeper: Keeper | None = None,
        on_unavailable: Literal["open", "closed"] | None = None,
        unavailable_after: float = 3.0,
        handle_signals: bool = False,
        grace: float | None = None,
        on_drain: Callable[[Pod], None] | None = None,
        on_replaced: Callable[[Pod], None] | None = None,
        on_beat_error: Callable[[Exception, int], None] | None = None,
    ) -> Pod:
        """Joins the fleet as a pod that a keeper beats for, until it leaves or the process ends.

        Names default to FLEETGATE_CLUSTER (else `default`), POD_NAME (else the host's name) and this run of the
        process. `slots`: how many places it counts for, 1…64. `state="starting"` is counted apart until `ready()`.
        `keeper`: "process" survives a held interpreter lock and is the default; "thread" is lighter.
        `on_unavailable`: what `slot()` does once the coordinator was out of reach for `unavailable_after` seconds: go
        on with a degraded lease ("open"), or wait and fail ("closed"); default: the client's.
        `handle_signals`: SIGTERM drains for at most `grace` seconds and then leaves; main thread only.
        Raises ProblemError, UnavailableError when closed, ValueError, UnsupportedError.
        """
        if keeper not in (None, "process", "thread"):
            raise ValueError('keeper must be "process" or "thread"')
        if keeper == "process" and self._has_own_transport:
            raise UnsupportedError("a keeper process cannot use the client's own transport")
        if handle_signals and not can_listen():
            raise ValueError("handle_signals works in the main thread only")
        settings = self._sender.settings
        rule = on_unavailable or settings.on_unavailable
        if rule not in ON_UNAVAILABLE:
            raise ValueError('on_unavailable must be "open" or "closed"')
        options = JoinOptions(
            slots,
            labels,
            state,
            keeper or ("thread" if self._has_own_transport else "process"),
            seconds("unavailable_after", unavailable_after),
            handle_signals,
            None if grace is None else seconds("grace", grace),
            on_drain,
            on_replaced,
            on_beat_error,
        )
        identity = make_identity(cluster, pod, instance)
        return Pod(Joining(self, settings, identity, rule, options))

    def slot(
        self,
        *,
        cls: str | None = None,
        wait: float | None = 0,
        ttl: float | None = None,
        on_lost: Callable[[Lease], None] | None = None,
    ) -> Lease:
        """Waits for a slot as `pod.slot()` does, as a pod that joins at the first call and leaves at exit."""
        return self.own_pod().slot(cls=cls, wait=wait, ttl=ttl, on_lost=on_lost)

    def own_pod(self, **options: Any) -> Pod:
        """The pod that `slot()` uses, joined now (with these options of `join`) if there is none yet."""
        return self._joined.get(self.name, lambda: self.join(**options))
