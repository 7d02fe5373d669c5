"""Answers of section Queues of the wire contract; `*_text` is the exact text of what stands decoded beside it."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

TaskState = Literal["delayed", "ready", "in_flight", "completed", "dead", "cancelled"]


class _Config(TypedDict):
    fleet: str
    lease_ttl_ms: int
    max_deliveries: int
    time_limit_ms: int
    result_ttl_ms: int
    paused: bool


class QueueConfig(_Config, total=False):
    soft_time_limit_ms: int
    max_backlog: int
    limit: str


class QueueAnswer(TypedDict):
    queue: str
    ready: int
    delayed: int
    in_flight: int
    dead: int
    backlog: int
    oldest_ready_ms: int
    config: QueueConfig


class QueuesAnswer(TypedDict):
    queues: list[QueueAnswer]


class EnqueueAnswer(TypedDict):
    id: str
    state: TaskState
    duplicate: bool


class BatchItem(TypedDict, total=False):
    id: str
    state: TaskState
    duplicate: bool
    code: str


class BatchAnswer(TypedDict):
    tasks: list[BatchItem]


class NewTask(TypedDict, total=False):
    """One task of a batch; `payload` is needed, `cls` is its class."""

    id: str
    payload: Any
    priority: int
    cls: str
    delay_ms: int
    max_deliveries: int
    time_limit_ms: int


class TaskLease(TypedDict):
    id: str
    ttl_ms: int
    expires_at: int


_Claimed = TypedDict(
    "_Claimed",
    {
        "id": str,
        "payload_text": str,
        "priority": int,
        "class": str,
        "delivery": int,
        "enqueued_at": int,
        "lease": TaskLease,
        "deadline_at": int,
    },
)


class ClaimedTask(_Claimed, total=False):
    """`payload` is absent when Python cannot decode it (too deep, or an integer of thousands of digits)."""

    payload: Any
    soft_deadline_at: int


class _Claim(TypedDict):
    tasks: list[ClaimedTask]


class ClaimAnswer(_Claim, total=False):
    reason: str
    retry_after_ms: int


class CompleteAnswer(TypedDict):
    completed: Literal[True]
    already: bool


class FailAnswer(TypedDict):
    state: Literal["ready", "delayed", "dead"]
    already: bool


_Task = TypedDict(
    "_Task",
    {
        "id": str,
        "state": TaskState,
        "priority": int,
        "class": str,
        "deliveries": int,
        "deferred": int,
        "enqueued_at": int,
    },
)


class TaskAnswer(_Task, total=False):
    first_claimed_at: int
    finished_at: int
    result: Any
    result_text: str
    error: str
    reason: str


class CancelAnswer(TypedDict):
    id: str
    state: Literal["cancelled"]


class DeadTask(TypedDict):
    id: str
    reason: str
    error: str | None
    deliveries: int
    enqueued_at: int
    first_claimed_at: int | None
    last_claimed_at: int | None
    died_at: int


class DeadAnswer(TypedDict):
    tasks: list[DeadTask]
    next: str | None


class RedriveAnswer(TypedDict):
    redriven: int


class PurgeAnswer(TypedDict):
    purged: int
