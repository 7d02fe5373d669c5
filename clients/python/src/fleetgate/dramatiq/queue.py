"""What Dramatiq's Redis broker keeps of its queues, as the head of its dispatch.lua tells it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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


class Queues:
    """What a consumer of the broker's cannot do; each call may raise ConnectionClosed."""

    def __init__(self, broker: RedisBroker) -> None:
        self._broker = broker
        self._to_front = broker.client.register_script(_TO_FRONT)

    def give_back(self, message: MessageProxy) -> None:
        """Puts a message back to the front of its queue; does nothing if it is no longer this process's."""
        queue = f"{self._broker.namespace}:{message.queue_name}"
        unacked = f"{self._broker.namespace}:__acks__.{self._broker.broker_id}.{message.queue_name}"
        with _connected():
            self._to_front(keys=[unacked, f"{queue}.msgs", queue], args=[message.options["redis_message_id"]])

    def look_after(self, queue: str) -> None:
        """Does what each fetch does beside fetching: says that this process lives, and looks for dead ones."""
        with _connected():
            self._broker.do_qsize(queue)


def heartbeats_key(broker: RedisBroker) -> str:
    """Where each process of the broker notes when it was last alive."""
    return f"{broker.namespace}:__heartbeats__"


@contextmanager
def _connected() -> Iterator[None]:
    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError) as error:
        raise ConnectionClosed(error) from None  # type: ignore[no-untyped-call]
