"""The worker classes of RQ, gated."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from rq.job import Job
from rq.queue import Queue
from rq.worker import SimpleWorker, SpawnWorker, Worker

from ..keeper.lease import Lease
from .spawned import tell_child, told_by_parent
from .taking import Taken
from .worker import Gated

_PR_SET_PDEATHSIG = 1


class GatedWorker(Gated, Worker):
    """RQ's Worker: each job in a work-horse, forked once its slot is there."""

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Runs in the work-horse, which must not outlive the worker that renews its slot."""
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != self.pid:
                os._exit(1)
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
