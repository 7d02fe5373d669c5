"""Which worker has which job in hand, in the broker's Redis: each claim lapses unless it is renewed.

RQ's own record of started jobs outlives a dead worker by minutes and counts its job as failed. A claim outlives it by
the lease's ttl, and whoever finds it lapsed puts the job back. All times are those of Redis's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis import Redis
from redis.client import Pipeline
from rq.defaults import RQ_KEY_PREFIX
from rq.executions import ExecutionRegistry
from rq.job import Job
from rq.queue import Queue
from rq.utils import as_text

from ..ids import new_request_id

_HERE = Path(__file__).parent
_EXECUTION_PREFIX = RQ_KEY_PREFIX + ":execution:"


@dataclass(frozen=True)
class Claim:
    """A job that was popped and is not decided yet."""

    queue: Queue
    job_id: str
    id: str

    @property
    def member(self) -> str:
        """How it stands in its queue's set of claims."""
        return f"{self.job_id}:{self.id}"


@dataclass(frozen=True)
class Nothing:
    """No queue has a job; the first claim of theirs lapses in so many seconds, None when there is none."""

    lapses_in: float | None


@dataclass(frozen=True)
class Requeued:
    """What was put back, what was begun too often, and in how many seconds the next claim lapses."""

    lapses_in: float | None
    back: list[str]
    spent: list[str]


class Claims:
    """The steps, each of them atomic. They may raise `redis.exceptions.RedisError`."""

    def __init__(self, connection: Redis, job_class: type[Job], max_deliveries: int) -> None:
        self._connection = connection
        self._job_prefix = job_class.redis_job_namespace_prefix
        self._max_deliveries = max_deliveries
        self._take = _script(connection, "take")
        self._keep = keep_script(connection)
        self._requeue = _script(connection, "requeue")

    def take(self, queues: Sequence[Queue], ttl: float) -> Claim | Nothing:
        """Pops the first job of the first queue that has one; the claim lapses after `ttl` seconds."""
        if not queues:
            return Nothing(None)
        claim_id = new_request_id()
        keys = [queue.key for queue in queues] + [claims_key(queue) for queue in queues]
        number, found = self._take(keys=keys, args=[_ms(ttl), claim_id])
        if number == 0:
            return Nothing(_seconds(found))
        return Claim(queues[number - 1], as_text(found), claim_id)

    def keep(self, claim: Claim, ttl: float, *, shorten: bool = False) -> bool:
        """Lets a claim live `ttl` seconds from now, or longer if it does already; False when it has ended."""
        args = [claim.member, _ms(ttl), int(shorten)]
        return bool(self._keep(keys=[claims_key(claim.queue)], args=args))

    def holds(self, claim: Claim) -> bool:
        """Whether a claim has not ended."""
        return self._connection.zscore(claims_key(claim.queue), claim.member) is not None

    def give_back(self, claim: Claim) -> bool:
        """Puts the job back at the front of its queue; False when the claim has ended. No delivery is counted."""
        return bool(self._put_back(claim.queue, [claim.member]).back)

    def give_back_lapsed(self, queue: Queue) -> Requeued:
        """Puts back the jobs whose claims lapsed; those begun too often are left to RQ as expired executions."""
        return self._put_back(queue, [])

    @staticmethod
    def end(claim: Claim, pipeline: Pipeline) -> None:
        """Ends a claim together with what else the pipeline does."""
        pipeline.zrem(claims_key(claim.queue), claim.member)

    def _put_back(self, queue: Queue, members: list[str]) -> Requeued:
        keys = [claims_key(queue), queue.key, queue.started_job_registry.key]
        executions = ExecutionRegistry.key_template.format("")
        args = [self._job_prefix, executions, _EXECUTION_PREFIX, self._max_deliveries, *members]
        soonest, back, spent = self._requeue(keys=keys, args=args)
        return Requeued(_seconds(soonest), [as_text(job) for job in back], [as_text(job) for job in spent])


def claims_key(queue: Queue) -> str:
    """Where a queue's claims stand: a sorted set, which is gone when no job is in anyone's hand."""
    return f"{RQ_KEY_PREFIX}:fleetgate:claims:{queue.name}"


def keep_script(connection: Redis) -> Any:
    """The script that renews a claim, by itself."""
    return _script(connection, "keep")


def _script(connection: Redis, name: str) -> Any:
    return connection.register_script((_HERE / f"{name}.lua").read_text(encoding="utf-8"))


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1_000))


def _seconds(ms: int) -> float | None:
    return None if ms < 0 else ms / 1_000
