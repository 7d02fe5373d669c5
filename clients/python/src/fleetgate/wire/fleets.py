"""Answers of section Fleets of the wire contract."""

from __future__ import annotations

from typing import Literal, TypedDict, Union

from .broken import Broken

BeatState = Literal["ready", "starting", "draining"]
Directive = Literal["run", "drain"]


class Counts(TypedDict, total=False):
    live: int
    busy: int
    capacity: int


class HeartbeatAnswer(Counts):
    ttl_ms: int
    next_heartbeat_ms: int
    directive: Directive
    lost: list[str]


class HeartbeatsAnswer(TypedDict):
    ttl_ms: int
    next_heartbeat_ms: int
    lost: list[str]
    drain: list[str]
    stale: list[str]


LeaseTimes = TypedDict("LeaseTimes", {"id": str, "class": str, "ttl_ms": int, "expires_at": int})


class Granted(TypedDict):
    granted: Literal[True]
    lease: LeaseTimes
    live: int
    busy: int
    capacity: int


class Denied(Counts):
    granted: Literal[False]
    reason: str
    retry_after_ms: int


AcquireAnswer = Union[Granted, Denied]


class ReleaseAnswer(TypedDict):
    released: list[str]
    missing: list[str]


class LeaveAnswer(TypedDict):
    left: bool
    released: list[str]


class FleetCounts(TypedDict):
    fleet: str
    live: int
    busy: int
    capacity: int


class _Fleets(TypedDict):
    fleets: list[FleetCounts]


class FleetsAnswer(_Fleets, total=False):
    broken: list[Broken]


class ClassRatio(TypedDict):
    ratio: float


class ClassCounts(ClassRatio):
    capacity: int
    available: int


class ClusterCounts(TypedDict):
    live: int
    busy: int


class _Policy(TypedDict):
    ttl_ms: int
    heartbeat_ms: int
    lease_ttl_ms: int
    classes: dict[str, ClassRatio]
    paused: bool


class PolicyAnswer(_Policy, total=False):
    limit: str


class StatusAnswer(FleetCounts):
    available: int
    headroom: int
    over_by: int
    starting: int
    draining: int
    classes: dict[str, ClassCounts]
    clusters: dict[str, ClusterCounts]
    policy: PolicyAnswer


_PodLease = TypedDict("_PodLease", {"id": str, "class": str, "expires_in_ms": int})


class PodLease(_PodLease, total=False):
    task: str


class PodInfo(TypedDict):
    cluster: str
    pod: str
    instance: str | None
    slots: int
    state: str
    labels: dict[str, str]
    expires_in_ms: int
    leases: list[PodLease]


class PodsAnswer(TypedDict):
    pods: list[PodInfo]
    next: str | None


class DrainEntry(TypedDict, total=False):
    cluster: str
    pod: str


class DrainAnswer(TypedDict):
    draining: list[DrainEntry]
