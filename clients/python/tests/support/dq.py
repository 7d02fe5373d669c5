"""Dramatiq's own command as workers, and a producer beside them."""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple

import redis
from dramatiq import Message
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results import ResultMissing
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

    def close(self) -> None:
        """Closes its connections."""
        for client in (self._sender.client, self._results.client, self.redis):
            client.connection_pool.disconnect()

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

    def pair(self, *options: str, pods: int = 2, **environment: str) -> tuple[Program, Program]:
        """Two workers; of `pods` live ones, they and others, all but one may run at once."""
        one, other = (self.worker(pod, *options, **environment) for pod in ("w-0", "w-1"))
        self.is_live(pods)
        return one, other

    def busy_and_idle(self, one: Program, other: Program) -> tuple[Program, Program]:
        """Waits until one of the two runs something: that one first."""
        until(lambda: runs(one) or runs(other), "one of two workers has begun")
        return (one, other) if runs(one) else (other, one)

    def send(self, actor: str, *args: Any, queue: str = "render", **options: Any) -> Message[Any]:
        """Enqueues a message."""
        message: Message[Any] = Message(queue, actor, args, {}, options)
        return self._sender.enqueue(message)

    def result(self, message: Message[Any], seconds: float = 20.0) -> Any:
        """What the actor returned."""

        def stored() -> bool:
            try:
                self._results.get_result(message)
            except ResultMissing:
                return False
            return True

        until(stored, f"{message} has a result", seconds)
        return self._results.get_result(message)

    def waiting(self, queue: str = "render") -> int:
        """How many messages no worker holds."""
        return int(self.redis.llen(f"dramatiq:{queue}"))

    def unfinished(self, queue: str = "render") -> int:
        """How many messages are not done, held or not."""
        return int(self.redis.hlen(f"dramatiq:{queue}.msgs"))

    def dead(self, queue: str = "render") -> int:
        """How many dead letters there are."""
        return int(self.redis.zcard(f"dramatiq:{queue}.XQ"))

    def all_done(self) -> None:
        """Waits until no message is left, and fails if one is dead; a result is stored before its message is done."""
        until(lambda: self.unfinished() == 0, "all messages are done")
        assert self.dead() == 0

    def is_at_work(self, worker: Program) -> None:
        """Waits until a worker has run something that needs no slot."""
        self.send("light", "first", queue="light")
        worker.says("light first", 60)

    def is_live(self, pods: int, seconds: float = 60.0) -> None:
        """Waits until so many pods are live."""
        until(lambda: self._fleet.status()["live"] == pods, f"{pods} pods are live", seconds)


class Run(NamedTuple):
    """An actor's run, by the clock that all processes share."""

    name: str
    began: float
    ended: float
    pid: int


def at(words: str) -> float:
    """When a line was said, from its words after the name."""
    return float(words.split()[0])


def runs(worker: Program, killed: float = math.inf) -> list[Run]:
    """What a worker has run; what has no end ended when it was `killed`."""
    lines = [line.split() for line in list(worker.lines)]
    ends = {words[1]: float(words[2]) for words in lines if words[0] == "end"}
    return [
        Run(words[1], float(words[2]), ends.get(words[1], killed), int(words[3]))
        for words in lines
        if words[0] == "start"
    ]


def running(all_runs: list[Run], moment: float) -> int:
    """How many run at that moment."""
    return sum(run.began <= moment < run.ended for run in all_runs)
