"""Answers of section Operate of the wire contract; `at` in epoch milliseconds of the coordinator."""

from __future__ import annotations

from typing import Literal, TypedDict, Union

from .fleets import PolicyAnswer

Span = Literal["1h", "24h", "30d"]


class FleetScale(TypedDict):
    live: int
    busy: int
    capacity: int
    wanted: int


class QueueScale(TypedDict):
    backlog: int
    in_flight: int
    wanted: int


class IdlePod(TypedDict):
    cluster: str
    pod: str
    idle_ms: int


class IdleAnswer(TypedDict):
    pods: list[IdlePod]


class FleetSample(TypedDict):
    at: int
    live: int
    busy: int
    capacity: int
    grants: int
    denials: int
    lapsed: int


class FleetHistory(TypedDict):
    span: Span
    step_ms: int
    samples: list[FleetSample]


class QueueSample(TypedDict):
    at: int
    ready: int
    delayed: int
    in_flight: int
    dead: int
    oldest_ready_ms: int


class QueueHistory(TypedDict):
    span: Span
    step_ms: int
    samples: list[QueueSample]


class _Counts(TypedDict):
    at: int
    live: int
    busy: int
    capacity: int


class _Pod(TypedDict):
    at: int
    cluster: str
    pod: str
    instance: str | None
    state: Literal["ready", "starting", "draining"]
    slots: int


class Snapshot(_Counts):
    event: Literal["snapshot"]
    full: bool
    pods: int | None


class FullEvent(_Counts):
    event: Literal["full", "freed"]


class PodEvent(_Pod):
    event: Literal["joined", "left", "lapsed"]


class ReplacedEvent(_Pod):
    event: Literal["replaced"]
    before: str | None


_LeaseLapsed = TypedDict(
    "_LeaseLapsed",
    {"at": int, "cluster": str, "pod": str, "instance": "str | None", "lease": str, "class": str},
)


class LeaseEvent(_LeaseLapsed):
    event: Literal["lapsed"]


class PolicyEvent(TypedDict):
    at: int
    event: Literal["policy"]
    policy: PolicyAnswer


# Something that happened to a fleet: the event's name and its data as one.
FleetEvent = Union[Snapshot, FullEvent, PodEvent, ReplacedEvent, LeaseEvent, PolicyEvent]
