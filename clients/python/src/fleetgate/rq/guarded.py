"""Only the worker that has a job in hand writes what came of it."""

from __future__ import annotations

from typing import Any

from redis import Redis
from redis.client import Pipeline
from rq.executions import Execution
from rq.job import Job
from rq.queue import Queue
from rq.registry import StartedJobRegistry
from rq.worker import BaseWorker

from .claims import Claims
from .current import running_under
from .taking import Taken

# Between the last look at the claim and the result's being written nobody else may take the job: so long at least.
_WRITING_S = 60.0


class NotOurs(Exception):
    """The job in hand is another's by now, or its slot is."""


class Guarded(BaseWorker):
    """The part of a gated worker that runs where the job runs: in the work-horse, if there is one."""

    connection: Redis
    held: Taken | None = None
    claims: Claims
    # A cold shutdown broke the job off.
    broken_off = False

    def perform_job(self, job: Job, queue: Queue, execution: Execution) -> bool:
        """Runs the job under its slot; what came of it counts only while slot and job are this worker's."""
        assert self.held is not None
        try:
            with running_under(self.held.lease):
                return super().perform_job(job, queue, execution)
        except NotOurs:
            self.log.warning(
                "Worker %s: job %s was handed back, its result is not written", self.name, job.id
            )
            return False

    def handle_execution_ended(self, job: Job, queue: Queue, heartbeat_ttl: int) -> None:
        """Looks before any callback of the job's is called."""
        self._must_be_ours(job)
        super().handle_execution_ended(job, queue, heartbeat_ttl)

    def handle_job_success(
        self, job: Job, queue: Queue, started_job_registry: StartedJobRegistry, execution: Execution
    ) -> None:
        """Looks once more: a success callback may have taken long."""
        self._must_be_ours(job)
        super().handle_job_success(job, queue, started_job_registry, execution)

    def handle_job_retry(self, job: Job, queue: Queue, *args: Any, **kwargs: Any) -> None:
        """The same for a job that returned a Retry."""
        self._must_be_ours(job)
        super().handle_job_retry(job, queue, *args, **kwargs)

    def handle_job_failure(self, job: Job, queue: Queue, *args: Any, **kwargs: Any) -> None:
        """The same for a failure, which the worker may report for its work-horse."""
        if self._is_ours(job):
            super().handle_job_failure(job, queue, *args, **kwargs)

    def handle_work_horse_killed(self, job: Job, *args: Any) -> None:
        """A work-horse killed because its job was handed back is no news."""
        if self._is_ours(job):
            super().handle_work_horse_killed(job, *args)

    def cleanup_execution(self, job: Job, pipeline: Pipeline, execution: Execution | None = None) -> None:
        """Ends the claim in the transaction that writes what came of the job."""
        super().cleanup_execution(job, pipeline, execution)
        if self.held is not None and self.held.job.id == job.id:
            self.claims.end(self.held.claim, pipeline)

    def _must_be_ours(self, job: Job) -> None:
        if not self._is_ours(job):
            raise NotOurs

    def _is_ours(self, job: Job) -> bool:
        held = self.held
        if held is None or held.job.id != job.id:
            return True  # maintenance of RQ's, not the job in hand
        if not self.broken_off and not held.lease.lost.is_set():
            return self.claims.keep(held.claim, _WRITING_S)
        self.claims.give_back(held.claim)
        return False
