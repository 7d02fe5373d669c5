"""One worker process: its pod, the gates, and what it has in hand."""

from __future__ import annotations

import logging
import threading
from typing import Any, Callable

from dramatiq import Consumer, MessageProxy
from dramatiq.brokers.redis import RedisBroker
from dramatiq.errors import ActorNotFound, BrokerConnectionError

from ..keeper.lease import Lease
from ..keeper.pod import Pod
from .consumer import GatedConsumer
from .delivery import Delivery
from .gates import Gates
from .queue import Queues
from .room import Room

_log = logging.getLogger("fleetgate")
# The longest that leaving the fleet may take when the process ends.
_LEAVE_S = 5.0


class GatedWorker:
    """Stands between a broker and the threads of one `dramatiq.Worker`."""

    def __init__(
        self, broker: RedisBroker, pod: Pod, threads: int, default: str | None, spare: float
    ) -> None:
        self.pod = pod
        self.room = Room(threads)
        self.gates = Gates(pod, self.room.look_again, spare)
        self._broker = broker
        self._default = default
        self._consume: Callable[..., Consumer] = broker.consume
        self.queues = Queues(broker)
        self._lock = threading.Lock()
        self._in_hand: dict[str, Delivery] = {}

    def attach(self) -> None:
        """From now on the broker's consumers are gated; those of delayed messages are as they were."""
        self._broker.consume = self._gated  # type: ignore[method-assign]

    def detach(self) -> None:
        """Gives the broker its own consumers back."""
        self._broker.consume = self._consume  # type: ignore[method-assign]

    def open(self, queue: str) -> Consumer:
        """A consumer of the broker's own that gives at most one message, and waits for none."""
        return self._consume(queue_name=queue, prefetch=1, timeout=1)

    def class_of(self, message: MessageProxy) -> str | None:
        """The class of the slot that a message needs, None if it needs none."""
        try:
            options: dict[str, Any] = self._broker.get_actor(message.actor_name).options
        except ActorNotFound:
            return None  # Dramatiq moves it to the dead letters
        cls: str | None = message.options.get("fleetgate", options.get("fleetgate", self._default))
        return cls

    def deliver(self, message: MessageProxy, lease: Lease | None, origin: Consumer) -> Delivery:
        """Takes a message in hand."""
        delivery = Delivery(message, lease, origin, self.queues.give_back, self._ended)
        with self._lock:
            earlier = self._in_hand.get(delivery.key)
            self._in_hand[delivery.key] = delivery
        if earlier is not None:
            earlier.detach()
        return delivery

    def drain(self) -> None:
        """Fetches nothing more and takes no slot; what runs goes on, renewed. The pod counts as draining."""
        self.room.close()
        self.gates.close()
        self.pod.drain(wait=0)

    def end(self) -> None:
        """Hands what still runs to other workers, and leaves the fleet. Harmless when called again."""
        self.drain()
        with self._lock:
            running = [one for one in self._in_hand.values() if one.lease is not None]
        for delivery in running:
            try:
                delivery.abandon()
            except BrokerConnectionError as error:
                _log.warning(
                    "%s comes back after the broker's heartbeat_timeout: %s", delivery.message, error
                )
        self.pod.leave(_LEAVE_S)

    def _gated(self, queue_name: str, prefetch: int = 1, timeout: int = 5_000) -> Consumer:
        if queue_name in self._broker.get_declared_delay_queues():
            return self._consume(queue_name=queue_name, prefetch=prefetch, timeout=timeout)
        return GatedConsumer(self, queue_name, timeout)

    def _ended(self, delivery: Delivery) -> None:
        with self._lock:
            if self._in_hand.get(delivery.key) is delivery:
                del self._in_hand[delivery.key]
        self.room.leave()
