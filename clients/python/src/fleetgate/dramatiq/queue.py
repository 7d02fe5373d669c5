"""What Dramatiq's Redis broker keeps of its queues, as the head of its dispatch.lua tells it."""

from __future__ import annotations

import redis
from dramatiq import MessageProxy
from dramatiq.brokers.redis import RedisBroker
from dramatiq.errors import ConnectionClosed

# Dramatiq's own requeue puts messages to the end. This one leaves alone what was delivered to another meanwhile.
_TO_FRONT = """
if redis.call("SREM", KEYS[1], ARGV[1]) == 0 or redis.call("HEXISTS", KEYS[2], ARGV[1]) == 0 then
  return 0
end
redis.call("LPUSH", KEYS[3], ARGV[1])
return 1
"""


class FrontDoor:
    """Puts messages back to the front of their queues, in one step."""

    def __init__(self, broker: RedisBroker) -> None:
        self._broker = broker
        self._to_front = broker.client.register_script(_TO_FRONT)

    def give_back(self, message: MessageProxy) -> None:
        """Does nothing if the message is no longer this process's. Raises ConnectionClosed."""
        queue = f"{self._broker.namespace}:{message.queue_name}"
        unacked = f"{self._broker.namespace}:__acks__.{self._broker.broker_id}.{message.queue_name}"
        try:
            self._to_front(keys=[unacked, f"{queue}.msgs", queue], args=[message.options["redis_message_id"]])
        except redis.ConnectionError as error:
            raise ConnectionClosed(error) from None  # type: ignore[no-untyped-call]


def heartbeats_key(broker: RedisBroker) -> str:
    """Where each process of the broker notes when it was last alive."""
    return f"{broker.namespace}:__heartbeats__"
