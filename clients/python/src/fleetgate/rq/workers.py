"""The worker classes of RQ, gated."""

from __future__ import annotations

import threading
from typing import Any

from redis.exceptions import RedisError
from rq.job import Job
from rq.queue import Queue
from rq.worker import SimpleWorker, SpawnWorker, Worker

from ..keeper.lease import Lease
from ..keeper.parent import die_with
from .renewer import Renewer
from .spawned import tell_child, told_by_parent
from .taking import Taken
from .worker import Gated, own_connection


class GatedWorker(Gated, Worker):
    """RQ's Worker: each job in a work-horse, forked once its slot is there."""

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Runs in the work-horse, which must not outlive the worker that renews its slot."""
        assert self.pid is not None
        die_with(self.pid)
        super().main_work_horse(job, queue)


class GatedSpawnWorker(GatedWorker, SpawnWorker):
    """RQ's SpawnWorker: each job in a work-horse that is spawned, for what does not survive a fork."""

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        """Leaves word of the slot for the work-horse."""
        assert self.held is not None and isinstance(self.held.lease, Lease)
        tell_child(self.held.claim, self.held.lease)
        super().fork_work_horse(job, queue)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Runs in the work-horse."""
        lease = told_by_parent(self.claims, queue, job.id)
        self.held = Taken(job, lease.claim, lease)
        super().main_work_horse(job, queue)


class GatedSimpleWorker(Gated, SimpleWorker):
    """RQ's SimpleWorker: each job in the worker's own process, which may keep a model in memory between them."""

    def bootstrap(self, *args: Any, **kwargs: Any) -> None:
        """Starts what renews the claim while a job keeps every thread of this process from running."""
        super().bootstrap(*args, **kwargs)
        self._renewer = Renewer(own_connection(self.connection))

    def teardown(self) -> None:
        """Ends it too."""
        super().teardown()
        self._renewer.close()

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Runs the job here, while a thread sends the heartbeats that RQ's Worker sends for a work-horse."""
        assert self.held is not None and isinstance(self.held.lease, Lease)
        self._renewer.hold(self.held.claim, self.held.lease.ttl or self._upkeep.ttl)
        over = threading.Event()
        beating = threading.Thread(
            target=self._beat, args=(job, over), name="fleetgate-heartbeats", daemon=True
        )
        beating.start()
        try:
            super().execute_job(job, queue)
        finally:
            over.set()
            self._renewer.drop()

    def _beat(self, job: Job, over: threading.Event) -> None:
        while not over.wait(self.job_monitoring_interval):
            execution = next(iter(self.executions.values()), None)
            if execution is None:
                continue
            try:
                self.maintain_heartbeats(job, execution)
            except RedisError as error:
                self.log.warning("Worker %s: a heartbeat could not be sent: %s", self.name, error)
