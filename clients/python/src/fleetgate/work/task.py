"""A task as its handler sees it."""

from __future__ import annotations

import json
import threading
from typing import Any

from ..clock import now
from ..keeper.lease import Lease
from ..wire.queues import ClaimedTask


class TaskFailed(Exception):
    """Raised by a handler to fail its task: whether it may be tried again, and after how many seconds."""

    def __init__(
        self,
        error: str,
        *,
        retry: bool = True,
        delay: float | None = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(error)
        self.retry = retry
        self.delay = delay
        self.reason = reason


class Task:
    """One delivery of a task. `enqueued_at` in epoch ms of the coordinator; `delivery` counts from 1."""

    def __init__(self, queue: str, claimed: ClaimedTask, lease: Lease, claimed_at: float) -> None:
        self.queue = queue
        self.id = claimed["id"]
        # The exact text that was enqueued; `payload` is what Python makes of it.
        self.payload_text = claimed["payload_text"]
        self.priority = claimed["priority"]
        self.cls = claimed["class"]
        self.delivery = claimed["delivery"]
        self.enqueued_at = claimed["enqueued_at"]
        self.lease = lease
        soft = claimed.get("soft_deadline_at")
        self._soft = None if soft is None else claimed_at + span(claimed, soft)
        self._hard = claimed_at + span(claimed, claimed["deadline_at"])

    @property
    def payload(self) -> Any:
        """The payload, decoded; raises ValueError or RecursionError where Python cannot (`payload_text` still can)."""
        return json.loads(self.payload_text)

    @property
    def lost(self) -> threading.Event:
        """Set when the lease is lost: somebody else may have the task, so write no result."""
        return self.lease.lost

    def check(self) -> None:
        """Raises LeaseLostError if the lease is lost. Call it before writing anything that lasts."""
        self.lease.check()

    @property
    def soft_left(self) -> float | None:
        """Seconds to the soft time limit, negative when it has passed; None without one."""
        return None if self._soft is None else self._soft - now()

    @property
    def hard_left(self) -> float:
        """Seconds to the hard time limit, where the lease ends."""
        return self._hard - now()

    def __repr__(self) -> str:
        return f"<Task {self.queue}/{self.id} delivery {self.delivery}>"


def span(claimed: ClaimedTask, at: int) -> float:
    """Seconds from the grant to a time of the coordinator's; its clock is compared with nothing but itself."""
    lease = claimed["lease"]
    return (at - (lease["expires_at"] - lease["ttl_ms"])) / 1_000
