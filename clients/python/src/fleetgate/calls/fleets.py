"""The calls of section Fleets of the wire contract, bound to one fleet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..call import Call, CallOptions, given, has, query, segment
from ..ids import new_request_id
from ..sender import Sender
from ..wire.fleets import (
    AcquireAnswer,
    BeatState,
    ClassRatio,
    DrainAnswer,
    HeartbeatAnswer,
    HeartbeatsAnswer,
    LeaveAnswer,
    PodsAnswer,
    PolicyAnswer,
    ReleaseAnswer,
    StatusAnswer,
)
from .operate import FleetOperateCalls

if TYPE_CHECKING:
    from typing_extensions import Unpack


class FleetCalls(FleetOperateCalls):
    """Every call of one fleet; each may raise ProblemError and UnavailableError."""

    def __init__(self, send: Sender, name: str) -> None:
        self.name = name
        self._send = send
        self._base = f"/v1/fleets/{segment(name)}"

    def heartbeat(
        self,
        *,
        cluster: str,
        pod: str,
        instance: str | None = None,
        slots: int | None = None,
        state: BeatState | None = None,
        leases: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        **options: Unpack[CallOptions],
    ) -> HeartbeatAnswer:
        """Counts one pod as live and renews its leases."""
        body = given(
            cluster=cluster,
            pod=pod,
            instance=instance,
            slots=slots,
            state=state,
            leases=leases,
            labels=labels,
        )
        return self._send(Call[HeartbeatAnswer]("POST", f"{self._base}/heartbeat", _is_beat, body), **options)

    def heartbeats(
        self, *, cluster: str, pods: Sequence[Mapping[str, Any]], **options: Unpack[CallOptions]
    ) -> HeartbeatsAnswer:
        """Counts up to 500 pods of one cluster in one call."""
        return self._send(
            Call[HeartbeatsAnswer](
                "POST", f"{self._base}/heartbeats", _is_beats, {"cluster": cluster, "pods": pods}
            ),
            **options,
        )

    def acquire(
        self,
        *,
        cluster: str,
        pod: str,
        instance: str | None = None,
        request_id: str | None = None,
        cls: str | None = None,
        ttl_ms: int | None = None,
        wait_ms: int | None = None,
        attempt: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AcquireAnswer:
        """Asks for a slot; a missing `request_id` is made here and kept over retries, so that no retry takes two."""
        body = given(
            cluster=cluster,
            pod=pod,
            instance=instance,
            request_id=request_id or new_request_id(),
            cls=cls,
            ttl_ms=ttl_ms,
            wait_ms=wait_ms,
            attempt=attempt,
        )
        return self._send(
            Call[AcquireAnswer]("POST", f"{self._base}/acquire", _is_acquired, body, wait_ms or 0), **options
        )

    def release(self, *, leases: Sequence[str], **options: Unpack[CallOptions]) -> ReleaseAnswer:
        """Gives slots back; those that had ended before stand in `missing`."""
        return self._send(
            Call[ReleaseAnswer]("POST", f"{self._base}/release", _is_released, {"leases": leases}), **options
        )

    def leave(
        self, *, cluster: str, pod: str, instance: str | None = None, **options: Unpack[CallOptions]
    ) -> LeaveAnswer:
        """Takes a pod out of the count and ends its leases."""
        return self._send(
            Call[LeaveAnswer](
                "POST", f"{self._base}/leave", _is_left, given(cluster=cluster, pod=pod, instance=instance)
            ),
            **options,
        )

    def status(self, **options: Unpack[CallOptions]) -> StatusAnswer:
        """The fleet's counts, classes, clusters and policy."""
        return self._send(Call[StatusAnswer]("GET", self._base, _is_status), **options)

    def pods(
        self, *, cursor: str | None = None, limit: int | None = None, **options: Unpack[CallOptions]
    ) -> PodsAnswer:
        """One page of the fleet's pods with their leases."""
        path = f"{self._base}/pods{query(cursor=cursor, limit=limit)}"
        return self._send(Call[PodsAnswer]("GET", path, _is_page), **options)

    def pod_pages(
        self, *, cursor: str | None = None, limit: int | None = None, **options: Unpack[CallOptions]
    ) -> Iterator[PodsAnswer]:
        """Every page of pods, one after the other, asked for as it is read."""
        while True:
            page = self.pods(cursor=cursor, limit=limit, **options)
            yield page
            cursor = page.get("next")
            if cursor is None:
                return

    def get_policy(self, **options: Unpack[CallOptions]) -> PolicyAnswer:
        """The fleet's policy, complete."""
        return self._send(Call[PolicyAnswer]("GET", f"{self._base}/policy", _is_policy), **options)

    def put_policy(
        self,
        *,
        ttl_ms: int | None = None,
        heartbeat_ms: int | None = None,
        lease_ttl_ms: int | None = None,
        classes: Mapping[str, ClassRatio] | None = None,
        paused: bool | None = None,
        limit: str | None = None,
        **options: Unpack[CallOptions],
    ) -> PolicyAnswer:
        """Replaces the fleet's policy; what is missing takes its default."""
        body = given(
            ttl_ms=ttl_ms,
            heartbeat_ms=heartbeat_ms,
            lease_ttl_ms=lease_ttl_ms,
            classes=classes,
            paused=paused,
            limit=limit,
        )
        call = Call[PolicyAnswer]("PUT", f"{self._base}/policy", _is_policy, body)
        return self._send(call, **options)

    def drain(
        self,
        *,
        drain: bool,
        cluster: str | None = None,
        pod: str | None = None,
        **options: Unpack[CallOptions],
    ) -> DrainAnswer:
        """Asks pods to drain, or no longer to; they hear it with their next heartbeat."""
        return self._send(
            Call[DrainAnswer](
                "POST", f"{self._base}/drain", _is_drain, given(cluster=cluster, pod=pod, drain=drain)
            ),
            **options,
        )

    def draining(self, **options: Unpack[CallOptions]) -> DrainAnswer:
        """Who is asked to drain."""
        return self._send(Call[DrainAnswer]("GET", f"{self._base}/drain", _is_drain), **options)


def _is_beat(answer: dict[str, Any]) -> bool:
    return has(answer, ttl_ms=float, next_heartbeat_ms=float, directive=str, lost=list)


def _is_beats(answer: dict[str, Any]) -> bool:
    return has(answer, next_heartbeat_ms=float, lost=list, drain=list, stale=list)


def _is_acquired(answer: dict[str, Any]) -> bool:
    if answer.get("granted") is True:
        lease = answer.get("lease")
        return has(lease, id=str, ttl_ms=float) and has(lease, **{"class": str})
    return answer.get("granted") is False and has(answer, reason=str, retry_after_ms=float)


def _is_released(answer: dict[str, Any]) -> bool:
    return has(answer, released=list, missing=list)


def _is_left(answer: dict[str, Any]) -> bool:
    return has(answer, left=bool, released=list)


def _is_status(answer: dict[str, Any]) -> bool:
    return has(answer, fleet=str, live=float, policy=dict)


def _is_page(answer: dict[str, Any]) -> bool:
    return has(answer, pods=list)


def _is_policy(answer: dict[str, Any]) -> bool:
    return has(answer, ttl_ms=float, classes=dict)


def _is_drain(answer: dict[str, Any]) -> bool:
    return has(answer, draining=list)
