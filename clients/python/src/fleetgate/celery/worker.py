"""One Celery worker as one pod of the fleet."""

from __future__ import annotations

import logging
import time
from typing import Any

from celery.concurrency.prefork import TaskPool as PreforkPool
from celery.worker.state import maybe_shutdown

from ..backoff import beat_delay
from ..client import Client
from ..errors import UnavailableError
from ..gate import Gate
from ..keeper.pod import Pod
from .admission import Admission
from .body import guard, inherit
from .errands import Errands
from .intake import Intake
from .renewer import Renewer
from .request import gated
from .running import Running
from .setup import Setup, class_of
from .unacked import Unacked

_log = logging.getLogger("fleetgate")
_LONGEST_PAUSE_S = 10.0
_LEAVE_S = 5.0
_TICK_S = 1.0
_MOST_SLOTS = 64


class GatedWorker:
    """Joins when made, before the pool forks; `stop()` leaves."""

    def __init__(self, worker: Any, setup: Setup, tasks: list[Any]) -> None:
        self._consumer = worker.consumer
        self._unacked = _unacked(worker, setup)  # forks, so before there are threads
        # The prefork pool has no processes yet.
        self._pod = _join(setup, worker.max_concurrency or worker.pool.limit)
        inherit(self._pod)
        for task in tasks:
            _prepare(task)
        self._running = Running(self._unacked, self._settle_soon)
        self._intake = Intake(lambda: worker.max_concurrency or worker.pool.num_processes, self._may_take)
        self._gates = {
            cls: Gate(self._pod, cls=cls, on_free=self._settle_soon, spare=setup.spare)
            for cls in map(class_of, tasks)
        }
        start = self._consumer.on_task_request
        self._consumer.on_task_request = Admission(start, self._gates, self._intake, self._running)
        # The operator's word to drain, and the rest of the pool's tasks, change without a call to here.
        worker.timer.call_repeatedly(_TICK_S, self._settle_soon)
        self._shutdown = Errands("fleetgate-shutdown")

    def connected(self, consumer: Any) -> None:
        """The connection to the broker was made, or made anew."""
        if self._unacked is not None:
            self._unacked.connected(consumer.task_consumer.channel)
        self._running.drop_unsent(_jobs_in(consumer.pool))
        self._intake.connected(consumer)

    def drain_soon(self) -> None:
        """Takes no more slots and beats as draining; from a thread, so a signal handler may call it."""
        self._shutdown.send(self._drain)

    def stop(self) -> None:
        """Gives back what has not ended, and leaves the fleet."""
        self._drain()
        self._running.stop()
        if self._unacked is not None:
            self._unacked.stop()
        self._pod.leave(_LEAVE_S)

    def _drain(self) -> None:
        for gate in self._gates.values():
            gate.close()
        self._pod.drain(0)

    def _may_take(self) -> bool:
        return not (self._pod.closing.is_set() or self._pod.asked_to_drain)

    def _settle_soon(self) -> None:
        self._consumer.call_soon(self._intake.settle)


def _jobs_in(pool: Any) -> set[str] | None:
    """The ids of the tasks that a prefork pool has; other pools forget none when the connection is lost."""
    if not isinstance(pool, PreforkPool):
        return None
    return {job.correlation_id for job in pool._pool._cache.values()}


def _unacked(worker: Any, setup: Setup) -> Unacked | None:
    if worker._conninfo.transport.driver_type != "redis":
        return None
    runs_tasks_itself = not issubclass(worker.pool_cls, PreforkPool)
    return Unacked(setup.redeliver_after, Renewer(worker.app) if runs_tasks_itself else None)


def _prepare(task: Any) -> None:
    task.Request = gated(task.Request)
    # Whatever the settings say: a message that is gone could not be delivered again when its slot is lost.
    task.acks_late = True
    task.reject_on_worker_lost = True
    guard(task)


def _join(setup: Setup, concurrency: int) -> Pod:
    """Joins; when closed to going on without the coordinator it is waited for, until a shutdown."""
    fleet = (setup.client or Client()).fleet(setup.fleet)
    failures = 0
    while True:
        try:
            pod = fleet.join(
                setup.cluster,
                setup.pod,
                slots=setup.slots or min(concurrency, _MOST_SLOTS),
                labels=setup.labels,
                on_unavailable=setup.on_unavailable,
                on_replaced=_tell_replaced,
            )
            _log.info("joined %s as %s/%s", pod.fleet, pod.cluster, pod.pod)
            return pod
        except UnavailableError as error:
            failures += 1
            _log.error("cannot join yet, will try again: %s", error)
            maybe_shutdown()
            time.sleep(beat_delay(failures, None, _LONGEST_PAUSE_S))


def _tell_replaced(pod: Pod) -> None:
    _log.error(
        "another process joined as %s/%s, so this worker runs no marked task any more: give each worker a name of its "
        "own (POD_NAME, or install(pod=...))",
        pod.cluster,
        pod.pod,
    )
