"""How a gated worker waits for its next job: nothing is popped that cannot start."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from redis.exceptions import ConnectionError, TimeoutError
from rq.exceptions import StopRequested
from rq.job import Job
from rq.queue import Queue
from rq.worker import WorkerStatus

from ..backoff import beat_delay
from ..clock import now
from ..keeper.pod import Pod
from ..waiting import PIECE_S
from .bell import Bell
from .gating import Gating
from .guarded import Guarded
from .taking import REFUSED_S, Taken, Taking
from .upkeep import Upkeep

_IDLE_S = 30.0
_BEAT_S = 10.0


class Looking(Guarded):
    """The part of a gated worker that looks for jobs."""

    gating = Gating()
    _pod: Pod
    _upkeep: Upkeep

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._news = threading.Event()
        self._bells: dict[str, Bell] = {}
        self._is_taking = False
        self._next_beat_at = 0.0

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """Waits for a job and its slot; None when there is none, in burst mode or for `max_idle_time` seconds."""
        names = ",".join(self.queue_names())
        self.set_state(WorkerStatus.IDLE)
        self.procline(f"Listening on {names}")
        taking = Taking(
            self.claims, self._pod, self.gating.class_of, self._fetch, self._upkeep.hold, self._news
        )
        idle_until = math.inf if max_idle_time is None else now() + max_idle_time
        failures = 0
        try:
            while True:
                try:
                    self._beat_if_due()
                    if self.should_run_maintenance_tasks:
                        self.run_maintenance_tasks()
                    taken = self._take(taking)
                    failures = 0
                except (ConnectionError, TimeoutError) as error:
                    failures += 1
                    pause = beat_delay(failures, None, self.max_connection_wait_time)
                    self.log.error("Worker %s: no Redis, trying again in %.1f s: %s", self.name, pause, error)
                    time.sleep(pause)
                    continue
                if taken is not None:
                    return self._announced(taken)
                if not self._wait(taking, burst=timeout is None, idle_until=idle_until):
                    return None
        finally:
            taking.close()

    def _take(self, taking: Taking) -> Taken | None:
        self._news.clear()
        # A signal that comes while a job changes hands must not tear it out of them: see get_state().
        self._is_taking = True
        try:
            found = taking.next(self._ordered_queues, self._upkeep.ttl)
            if isinstance(found, Taken):
                self.held = found
        finally:
            if self.held is None:
                self._upkeep.drop()
                self._is_taking = False
        if isinstance(found, Taken):
            return found
        self._upkeep.expect(found.lapses_in)
        if self._stop_requested:
            raise StopRequested
        return None

    def _wait(self, taking: Taking, burst: bool, idle_until: float) -> bool:
        """Waits for news; False when the worker is to end instead."""
        if self._pod.state == "replaced":
            self.log.error(
                "Worker %s: another process joined as %s/%s, so this one ends: give each worker its own POD_NAME",
                self.name,
                self._pod.cluster,
                self._pod.pod,
            )
            raise StopRequested
        if self._pod.closing.is_set():
            # RQ's handler has raised it already; but inside of a log's emit(), for one, that is lost.
            raise StopRequested
        queues = taking.open(self._ordered_queues)
        longest = _IDLE_S
        if len(queues) < len(self._ordered_queues):
            longest = REFUSED_S  # some wait for a slot, so nobody is idle
        elif burst or now() >= idle_until:
            return False
        else:
            longest = min(_IDLE_S, self.dequeue_timeout, idle_until - now())
        for queue in queues:
            if queue.name not in self._bells:
                self._bells[queue.name] = Bell(self.connection, queue, self._news, self.dequeue_timeout)
            self._bells[queue.name].arm()
        ends = now() + longest
        while not self._news.wait(min(PIECE_S, max(0.0, ends - now()))) and now() < ends:
            if self._pod.closing.is_set():
                break
        return True

    def _announced(self, taken: Taken) -> tuple[Job, Queue]:
        job, queue = taken.job, taken.claim.queue
        self.reorder_queues(reference_queue=queue)
        job.redis_server_version = self.get_redis_server_version()
        description = f"{job.description} ({job.id})" if self.log_job_description else job.id
        self.log.info("Worker %s: %s: %s", self.name, queue.name, description)
        self.heartbeat()
        return job, queue

    def _beat_if_due(self) -> None:
        # An idle worker looks up at each job that comes, also at those that another gets.
        if now() >= self._next_beat_at:
            self.heartbeat()
            self._next_beat_at = now() + _BEAT_S

    def _fetch(self, job_id: str) -> Job:
        return self.job_class.fetch(job_id, connection=self.connection, serializer=self.serializer)

    def get_state(self) -> str:
        """RQ's signal handler lets a busy worker come to an end; one that takes a job is busy too."""
        return WorkerStatus.BUSY if self._is_taking else super().get_state()
