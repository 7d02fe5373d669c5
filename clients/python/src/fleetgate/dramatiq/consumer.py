"""A consumer that fetches no message which cannot start now."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dramatiq import Consumer, MessageProxy
from dramatiq.common import compute_backoff

from ..clock import now
from ..errors import ProblemError
from ..gate import Gate
from .delivery import Delivery, delivery_of

if TYPE_CHECKING:
    from .worker import GatedWorker

# How long a drained consumer sleeps between two looks of its thread.
_CLOSED_S = 0.1
# How long a queue rests whose slots the coordinator refuses to give (no such class, a wrong key).
_REFUSED_S = 10.0
_log = logging.getLogger("fleetgate")


class GatedConsumer(Consumer):
    """Takes one message when a thread is free for it, and a slot for it before the thread sees it.

    When the fleet is full the message goes back to the front of its queue at once, and none is fetched until the gate
    holds a slot. Each message comes from a consumer of the broker's own that may prefetch one: it never has two.
    """

    def __init__(self, worker: GatedWorker, queue: str, timeout: int) -> None:
        self._worker = worker
        self._queue = queue
        self._timeout_ms = timeout
        self._origin = worker.open(queue)
        self._misses = 0
        self._gate: Gate | None = None
        self._rests_until = 0.0

    def __next__(self) -> MessageProxy | None:
        """The next message, or None after at most `timeout` ms: no thread free, no slot, or nothing to do."""
        room = self._worker.room
        if not room.enter(self._may_fetch, self._timeout_ms / 1_000):
            if room.closed:
                time.sleep(_CLOSED_S)
            else:
                # Others may wait as this one does, and nobody fetch.
                self._worker.queues.look_after(self._queue)
            return None
        delivery = None
        found = True
        try:
            message = next(self._origin)
            found = message is not None
            if message is not None:
                self._misses = 0
                delivery = self._admit(message)
        finally:
            if delivery is None:
                room.leave()
        if not found:
            # The place is free for other queues meanwhile.
            self._misses, pause_ms = compute_backoff(self._misses, max_backoff=self._timeout_ms)
            time.sleep(pause_ms / 1_000)
        return None if delivery is None else delivery.message

    def ack(self, message: MessageProxy) -> None:
        """Ends the delivery of a message that is done."""
        delivery = delivery_of(message)
        if delivery is not None:
            delivery.ack()

    def nack(self, message: MessageProxy) -> None:
        """Ends the delivery of a message that failed for good."""
        delivery = delivery_of(message)
        if delivery is not None:
            delivery.nack()

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        """Puts messages back that were not begun."""
        for message in messages:
            delivery = delivery_of(message)
            if delivery is not None:
                delivery.requeue()

    def close(self) -> None:
        """Closes the broker's own consumer."""
        self._origin.close()

    def _may_fetch(self) -> bool:
        pod, gate = self._worker.pod, self._gate
        if pod.asked_to_drain or now() < self._rests_until:
            return False
        return gate is None or not (gate.waiting or pod.closing.is_set())

    def _admit(self, message: MessageProxy) -> Delivery | None:
        """The delivery of a message, with a slot if it needs one; None when there is no slot and it was put back."""
        worker = self._worker
        origin, self._origin = self._origin, worker.open(self._queue)
        delivery = None
        try:
            cls = worker.class_of(message)
            self._gate = None if cls is None else worker.gates.of(cls)
            lease = None if self._gate is None else self._gate.take()
            if self._gate is None or lease is not None:
                delivery = worker.deliver(message, lease, origin)
        except ProblemError as error:
            self._rests_until = now() + _REFUSED_S
            _log.error("queue %s rests for %d s, no slot is given: %s", self._queue, _REFUSED_S, error)
        finally:
            if delivery is None:
                worker.queues.give_back(message)
        return delivery
