"""Where the gate stands in a Celery worker: two of its bootsteps."""

from __future__ import annotations

import logging
from typing import Any

from celery import bootsteps
from celery.signals import worker_shutting_down

from ..errors import ProblemError
from .checks import advice, unsupported
from .setup import Setup, marked_tasks, wrong_marks
from .worker import GatedWorker

_log = logging.getLogger("fleetgate")
_EX_CONFIG = 78


class WorkerStep(bootsteps.StartStopStep):  # type: ignore[misc]
    """First to start, before the pool forks, and last to stop, when every task has ended."""

    label = "Fleetgate"

    def __init__(self, worker: Any, **options: Any) -> None:
        super().__init__(worker, **options)
        self._gated: GatedWorker | None = None

    def include(self, worker: Any) -> bool:
        """Before every other step, whatever they require."""
        worker.steps.insert(0, self)
        return True

    def start(self, worker: Any) -> None:
        """Joins the fleet."""
        wrong = ", ".join(wrong_marks(worker.app))
        problem = unsupported(worker) or (
            wrong and f"{wrong}: fleetgate= must be True, or the name of a class such as 'high'"
        )
        if problem:
            _log.critical(problem)
            raise SystemExit(_EX_CONFIG)
        setup: Setup = worker.app.fleetgate
        tasks = marked_tasks(worker.app)
        for line in advice(worker, tasks):
            _log.warning(line)
        try:
            self._gated = worker.fleetgate = GatedWorker(worker, setup, tasks)
        except (ProblemError, ValueError) as error:
            _log.critical("cannot join the fleet: %s", error)
            raise SystemExit(_EX_CONFIG) from None
        worker_shutting_down.connect(self._hear, weak=True)

    def close(self, worker: Any) -> None:
        """A shutdown begins."""
        self._hear()

    def stop(self, worker: Any) -> None:
        """Every task has ended, or was cancelled."""
        if self._gated is not None:
            self._gated.stop()

    terminate = stop

    def _hear(self, **_: Any) -> None:
        # Perhaps in a signal handler, while the main thread is busy with a task.
        if self._gated is not None:
            self._gated.drain_soon()


class ConsumerStep(bootsteps.StartStopStep):  # type: ignore[misc]
    """Follows the connection to the broker, which Celery makes anew when it is lost."""

    label = "Fleetgate"
    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        """Celery consumes, by a new channel."""
        consumer.controller.fleetgate.connected(consumer)

    def stop(self, consumer: Any) -> None:
        """Nothing to undo: the connection is gone."""
