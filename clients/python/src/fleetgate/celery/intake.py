"""Which queues a worker consumes: one with marked tasks only while they could start."""

from __future__ import annotations

import logging
import threading
from typing import Any, Callable

from celery.worker.state import reserved_requests

from ..clock import now
from ..gate import Gate

_log = logging.getLogger("fleetgate")


class Intake:
    """Stops consuming a queue whose tasks wait for a slot, or for room in the pool, and goes on after that."""

    def __init__(self, capacity: Callable[[], int], may_take: Callable[[], bool]) -> None:
        self._capacity = capacity
        self._may_take = may_take
        self._gates: dict[str, set[Gate]] = {}
        self._paused: set[str] = set()
        self._rests: dict[Gate, float] = {}
        self._consumer: Any = None
        self._thread: threading.Thread | None = None

    def connected(self, consumer: Any) -> None:
        """Celery consumes every queue again, by this consumer."""
        self._consumer = consumer
        self._thread = threading.current_thread()
        self._paused.clear()
        self.settle()

    def comes_with(self, message: Any, gate: Gate) -> None:
        """A task of this gate came with that message, so more of its kind will come from the same queue."""
        for queue in self._queues_of(message.delivery_info):
            self._gates.setdefault(queue, set()).add(gate)

    def has_room(self) -> bool:
        """Whether the task at hand, which counts as reserved already, can start at once."""
        return len(reserved_requests) <= self._capacity()

    def rest(self, gate: Gate, seconds: float) -> None:
        """Nothing is to be had by this gate for so long."""
        self._rests[gate] = now() + seconds

    def settle(self) -> None:
        """Consumes what can start, and nothing else; in the consumer's own thread."""
        if self._consumer is None:
            return  # a worker that ends before it is connected
        if threading.current_thread() is not self._thread:
            self._consumer.call_soon(self.settle)
            return
        consumer = self._consumer.task_consumer
        if consumer is None:
            return
        opens = self._may_take() and len(reserved_requests) < self._capacity()
        for queue, gates in self._gates.items():
            if opens and not any(self._is_shut(gate) for gate in gates):
                self._resume(consumer, queue)
            elif queue not in self._paused:
                _log.debug("%s waits", queue)
                self._paused.add(queue)
                consumer.cancel_by_queue(queue)

    def _is_shut(self, gate: Gate) -> bool:
        return gate.waiting or self._rests.get(gate, 0.0) > now()

    def _resume(self, consumer: Any, queue: str) -> None:
        selected = self._consumer.app.amqp.queues.consume_from
        # One that was paused when an operator cancelled it stays so.
        if queue in self._paused and queue in selected:
            _log.debug("%s goes on", queue)
            consumer.add_queue(selected[queue])
            consumer.consume()
        self._paused.discard(queue)

    def _queues_of(self, info: dict[str, Any]) -> list[str]:
        """The queues a message may have come from: the one, where its address tells, else all that are consumed."""
        exchange, key = info.get("exchange") or "", info.get("routing_key")
        selected = self._consumer.app.amqp.queues.consume_from
        by_address = [
            name
            for name, queue in selected.items()
            if (exchange == queue.exchange.name and key == queue.routing_key)
            or (not exchange and key == name)
        ]
        return by_address or list(selected)
