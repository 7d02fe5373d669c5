"""The marked tasks that run in this worker, each with what it holds until its end."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Callable

from celery.worker.state import active_requests, reserved_requests

from ..keeper.lease import Lease
from .errands import Errands
from .request import Slot
from .unacked import OwnMessage, Unacked

# How long the last releases may take when the worker ends; leaving frees those slots too.
_LAST_S = 5.0


class Running:
    """Knows each request from its start on; `on_end()` is called after each end."""

    def __init__(self, unacked: Unacked | None, on_end: Callable[[], None]) -> None:
        self._unacked = unacked
        self._on_end = on_end
        self._requests: dict[Slot, Any] = {}
        # A release may take seconds when the coordinator is away, which the consumer must not.
        self._releases = Errands("fleetgate-releases")

    def take(self, request: Any) -> OwnMessage | None:
        """Takes a request's message in hand, where the broker's Redis keeps it; may raise what redis-py raises."""
        if self._unacked is None:
            return None
        try:
            return self._unacked.begin(request.message)
        except BaseException:
            request.reject(requeue=True)
            raise

    def start(
        self, request: Any, message: OwnMessage | None, lease: Lease, start: Callable[[Any], Any]
    ) -> None:
        """Starts a request under this lease."""
        slot = Slot(lease, message, self._end)
        self._requests[slot] = request
        try:
            if message is not None:
                message.hold(lease)
            request.begin(slot)
            start(request)
        except BaseException:
            request.reject(requeue=True)
            self._end(slot)
            raise

    def drop_unsent(self, in_pool: Container[str] | None) -> None:
        """Gives back what Celery dropped when it lost its connection, before a process of the pool had begun it.

        `in_pool` has the ids of the tasks that the pool still knows; None where a pool forgets none.
        """
        for request in list(self._requests.values()):
            known = request in reserved_requests or request in active_requests
            dropped = request._apply_result is None if in_pool is None else request.id not in in_pool
            if dropped and not known:
                request.reject(requeue=True)

    def stop(self) -> None:
        """The pool has ended: gives back what has not."""
        for request in list(self._requests.values()):
            request.reject(requeue=True)
        self._releases.stop(_LAST_S)

    def _end(self, slot: Slot) -> None:
        if self._requests.pop(slot, None) is not None:
            self._releases.send(slot.lease.release)
            self._on_end()
