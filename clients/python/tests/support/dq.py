"""Dramatiq's own command as workers, and a producer beside them."""

from __future__ import annotations

from typing import Any, Callable

import redis
from dramatiq import Message
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results.backends import RedisBackend

from fleetgate import Fleet

from .broker import Broker
from .program import HERE, Program
from .until import until


class Studio:
    """Sends messages to the actors of tests/programs/dq_actors.py, and starts workers for them."""

    def __init__(self, broker: Broker, fleet: Fleet, program: Callable[..., Program]) -> None:
        self._url = broker.url
        self._fleet = fleet
        self._program = program
        self._sender = RedisBroker(url=broker.url)
        self._results = RedisBackend(url=broker.url)
        self.redis = redis.Redis.from_url(broker.url)

    def worker(self, pod: str, *options: str, cluster: str = "eu", **environment: str) -> Program:
        """`dramatiq dq_actors`, by default with one process and one thread."""
        line = ["-m", "dramatiq", "dq_actors", "--path", str(HERE / "programs"), "--processes", "1"]
        threads = [] if "--threads" in options else ["--threads", "1"]
        return self._program(
            *line,
            *threads,
            *options,
            BROKER_URL=self._url,
            FLEET=self._fleet.name,
            FLEETGATE_CLUSTER=cluster,
            POD_NAME=pod,
            **environment,
        )

    def send(self, actor: str, *args: Any, queue: str = "render", **options: Any) -> Message[Any]:
        """Enqueues a message."""
        message: Message[Any] = Message(queue, actor, args, {}, options)
        return self._sender.enqueue(message)

    def result(self, message: Message[Any], seconds: float = 20.0) -> Any:
        """What the actor returned."""
        return self._results.get_result(message, block=True, timeout=int(seconds * 1_000))

    def waiting(self, queue: str = "render") -> int:
        """How many messages no worker holds."""
        return int(self.redis.llen(f"dramatiq:{queue}"))

    def unfinished(self, queue: str = "render") -> int:
        """How many messages are not done, held or not."""
        return int(self.redis.hlen(f"dramatiq:{queue}.msgs"))

    def is_live(self, pods: int, seconds: float = 60.0) -> None:
        """Waits until so many pods are live."""
        until(lambda: self._fleet.status()["live"] == pods, f"{pods} pods are live", seconds)
