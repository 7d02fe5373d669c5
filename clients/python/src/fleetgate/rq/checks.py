"""What of RQ's and Redis's settings is wrong for jobs that take minutes or hours: a line each, with what to set."""

from __future__ import annotations

from collections.abc import Iterator

from redis.exceptions import ResponseError
from rq.job import Job
from rq.queue import Queue
from rq.utils import as_text, get_version
from rq.worker import BaseWorker

# How many waiting jobs of a queue are looked at.
_LOOK = 50


def refuse_old_redis(worker: BaseWorker) -> None:
    """Raises ValueError where Redis lacks what waiting without popping needs."""
    version = get_version(worker.connection)
    if version < (6, 2):
        raise ValueError(f"Redis 6.2 or newer is needed, this is {'.'.join(map(str, version))}")


def problems(worker: BaseWorker) -> Iterator[str]:
    """Each in one line."""
    longest = 0
    for queue in worker.queues:
        timeouts = _timeouts(queue)
        longest = max([longest, *timeouts])
        if Queue.DEFAULT_TIMEOUT in timeouts:
            yield (
                f"jobs in {queue.name} have RQ's default timeout and are ended after {Queue.DEFAULT_TIMEOUT} s: "
                f"enqueue them with job_timeout=, or make the queue with default_timeout="
            )
        if -1 in timeouts:
            yield (
                f"jobs in {queue.name} have no timeout, so one that hangs keeps its slot for ever: "
                "enqueue them with job_timeout="
            )
    if 0 < worker.default_result_ttl < longest:
        yield (
            f"results are kept {worker.default_result_ttl} s, less than a job may take ({longest} s): "
            f"start with --results-ttl {2 * longest}"
        )
    yield from _memory(worker)


def _timeouts(queue: Queue) -> list[int]:
    with queue.connection.pipeline(transaction=False) as pipeline:
        for job_id in queue.get_job_ids(0, _LOOK):
            pipeline.hget(Job.key_for(job_id), "timeout")
        return [int(as_text(found)) for found in pipeline.execute() if found]


def _memory(worker: BaseWorker) -> Iterator[str]:
    try:
        memory = worker.connection.info("memory")
    except ResponseError:  # not every hosted Redis tells
        return
    policy = memory.get("maxmemory_policy", "noeviction")
    if int(memory.get("maxmemory", 0)) > 0 and policy != "noeviction":
        yield (
            f"Redis may evict jobs and claims when its memory is full (maxmemory-policy {policy}): "
            "set it to noeviction"
        )
