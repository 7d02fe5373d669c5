"""Finds the next job that may start: with its slot in hand, or not at all."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Callable

from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.queue import Queue

from ..clock import now
from ..errors import ProblemError
from ..gate import Gate
from ..keeper.lease import Lease
from ..keeper.pod import Pod
from .claims import Claim, Claims, Nothing
from .current import JobLease

_log = logging.getLogger("rq.worker")
# A queue whose job's class the coordinator refuses is left alone for so long.
REFUSED_S = 5.0


@dataclass(frozen=True)
class Taken:
    """A job in hand, with its slot."""

    job: Job
    claim: Claim
    lease: JobLease
    ended: threading.Event = field(default_factory=threading.Event)


class Taking:
    """One spell of looking for a job, from one job's end to the next one's start.

    A job without a slot goes back to its queue's front, and that queue is left alone until a slot of its class is
    there. `news` is set then. `hold` renews a claim while its slot is asked for.
    """

    def __init__(
        self,
        claims: Claims,
        pod: Pod,
        class_of: Callable[[Job], str],
        fetch: Callable[[str], Job],
        hold: Callable[[Claim], None],
        news: threading.Event,
    ) -> None:
        self._claims = claims
        self._pod = pod
        self._class_of = class_of
        self._fetch = fetch
        self._hold = hold
        self._news = news
        self._gates: dict[str, Gate] = {}
        self._closed: dict[str, Callable[[], bool]] = {}

    def next(self, queues: Sequence[Queue], ttl: float) -> Taken | Nothing:
        """The first job of the open queues that gets a slot. Its claim lives `ttl` seconds; may raise RedisError."""
        while True:
            claim = self._claims.take(self.open(queues), ttl)
            if isinstance(claim, Nothing):
                self._give_spares_back()
                return claim
            self._hold(claim)
            try:
                job = self._fetch(claim.job_id)
            except NoSuchJobError:  # deleted, or outlived its ttl; RQ passes over it too
                self._claims.give_back(claim)
                continue
            lease = self._slot(job, claim.queue)
            if lease is not None:
                return Taken(job, claim, lease)
            self._claims.give_back(claim)

    def open(self, queues: Sequence[Queue]) -> list[Queue]:
        """The queues that do not wait for a slot; none once the pod takes no more or is asked to drain."""
        if self._pod.closing.is_set() or self._pod.asked_to_drain:
            return []
        return [queue for queue in queues if not self._is_closed(queue)]

    def close(self) -> None:
        """Ends all waits, and gives back what they were granted."""
        for gate in self._gates.values():
            gate.close()
        self._gates.clear()

    def _slot(self, job: Job, queue: Queue) -> Lease | None:
        cls = self._class_of(job)
        gate = self._gates.get(cls)
        if gate is None:
            gate = self._gates[cls] = Gate(self._pod, cls=cls, on_free=self._news.set)
        try:
            lease = gate.take()
        except ProblemError as error:
            _log.error("no slot for job %s of class %s, which goes back: %s", job.id, cls, error)
            again_at = now() + REFUSED_S
            self._closed[queue.name] = lambda: now() < again_at
            return None
        if lease is None:
            self._closed[queue.name] = lambda: gate.waiting
        return lease

    def _is_closed(self, queue: Queue) -> bool:
        is_closed = self._closed.get(queue.name)
        return is_closed is not None and is_closed()

    def _give_spares_back(self) -> None:
        """A slot that was waited for, and whose job another worker has by now, is not kept."""
        for cls, gate in list(self._gates.items()):
            if not gate.waiting:
                del self._gates[cls]
                gate.close()
