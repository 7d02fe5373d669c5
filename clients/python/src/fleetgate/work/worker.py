"""Runs a handler over a queue's tasks; SIGTERM ends the claiming at once, and the work when it is done."""

from __future__ import annotations

import logging
import threading
from typing import Any, Callable

from ..call import UNSET
from ..calls.queues import QueueCalls
from ..clock import now
from ..errors import LeaseLostError, PodClosedError, ProblemError, UnavailableError
from ..keeper.couriers import Couriers
from ..keeper.held import HeldLease
from ..keeper.lease import Grant, ReleaseOutcome
from ..keeper.pod import Pod
from ..waiting import wait_for
from .claims import Claimed, Claims
from .task import Task, TaskFailed

_log = logging.getLogger("fleetgate")
_LEAST_FINISH_S = 10.0
_DRAIN_POLL_S = 1.0
_LARGEST_ERROR = 4_000

Handler = Callable[[Task], Any]


class Worker:
    """Made by `queue.worker()`; `run()` works until `stop()`, at most `concurrency` tasks at a time."""

    def __init__(
        self,
        calls: QueueCalls,
        pod: Pod,
        handler: Handler,
        *,
        concurrency: int,
        grace: float | None,
        wait: float,
        owns_pod: bool,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be 1 or more")
        self.pod = pod
        self._calls = calls
        self._handler = handler
        self._concurrency = concurrency
        self._grace = grace
        self._owns_pod = owns_pod
        self._couriers = Couriers()
        self._claims = Claims(calls, pod, self._couriers, wait)
        self._changed = threading.Condition()
        self._running: list[Task] = []
        self._stopping = False

    def run(self) -> bool:
        """Claims and handles until stopped, then waits at most `grace` seconds for what runs.

        True when all of it ended; False when some was handed back. Raises ProblemError when its first claim is refused,
        and PodClosedError when a newer process took over. Later refusals are told in the log, and tried again.
        """
        drained = False
        try:
            self._claim_on()
            drained = self._wait_for_end()
        finally:
            self._end(drained)
        if self.pod.state == "replaced":
            raise PodClosedError("replaced")
        return drained

    def stop(self) -> None:
        """Claims nothing more, from now on; what runs goes on, renewed."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._claims.asking.stop(PodClosedError("draining"))
        if self._owns_pod:
            self.pod.drain(wait=0)

    def _claim_on(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._may_claim() or self._is_over(), _DRAIN_POLL_S)
                free = self._concurrency - len(self._running)
                if self._is_over():
                    return
            if not self._may_claim():
                continue
            try:
                claimed = self._claims.next(free, self._may_claim)
            except PodClosedError:
                return
            for one in claimed:
                self._start(one)

    def _is_over(self) -> bool:
        return self._stopping or self.pod.closing.is_set()

    def _may_claim(self) -> bool:
        room = self._concurrency > len(self._running)
        return room and not self._is_over() and not self.pod.asked_to_drain

    def _start(self, claimed: Claimed) -> None:
        answer, held, claimed_at = claimed
        ending = _Ending(self._calls)
        lease = self.pod.keep(Grant(answer["class"], "", held), give_back=ending.give_back)
        task = Task(self._calls.name, answer, lease, claimed_at)
        with self._changed:
            self._running.append(task)
        self._couriers.send(lambda: self._handle(task, ending))

    def _handle(self, task: Task, ending: _Ending) -> None:
        try:
            ending.say = self._outcome(task)
            if task.lease.release() == "lost":
                _log.warning("%r was lost (%s): its result is not written", task, task.lease.reason)
        finally:
            with self._changed:
                if task in self._running:
                    self._running.remove(task)
                self._changed.notify_all()

    def _outcome(self, task: Task) -> Callable[[str, float], Any]:
        """Runs the handler; how to tell the coordinator what came of it."""
        calls = self._calls
        try:
            result = self._handler(task)
        except TaskFailed as failed:
            delay_ms = None if failed.delay is None else round(failed.delay * 1_000)
            text, retry, reason = str(failed), failed.retry, failed.reason
            return lambda lease, deadline: calls.fail(
                lease=lease,
                error=text[:_LARGEST_ERROR],
                retry=retry,
                delay_ms=delay_ms,
                reason=reason,
                deadline=deadline,
            )
        except BaseException as error:
            if not isinstance(error, LeaseLostError):
                _log.error("%r failed", task, exc_info=error)
            words = f"{type(error).__name__}: {error}"[:_LARGEST_ERROR]
            return lambda lease, deadline: calls.fail(lease=lease, error=words, deadline=deadline)
        kept = UNSET if result is None else result
        return lambda lease, deadline: calls.complete(lease=lease, result=kept, deadline=deadline)

    def _wait_for_end(self) -> bool:
        with self._changed:
            return wait_for(self._changed, lambda: not self._running, self._grace)

    def _end(self, drained: bool) -> None:
        self.stop()
        if not drained:
            self._hand_back()
        self._claims.cut.cut()
        if self._owns_pod:
            self.pod.leave()

    def _hand_back(self) -> None:
        with self._changed:
            running = list(self._running)
        # Told first, so that no handler writes a result for a task that is no longer its own.
        ours = [task for task in running if task.lease.lose("left")]
        ids = [task.lease.id for task in ours if task.lease.id is not None]
        errands = [
            self._couriers.send(lambda lease_id=lease_id: self._claims.hand_back(lease_id))  # type: ignore[misc]
            for lease_id in ids
        ]
        for errand in errands:
            errand.result()
        if ids:
            _log.warning("handed back: %s", ", ".join(task.id for task in ours))


class _Ending:
    """How a delivery is ended at the coordinator."""

    def __init__(self, calls: QueueCalls) -> None:
        self._calls = calls
        self.say: Callable[[str, float], Any] | None = None

    def give_back(self, held: HeldLease) -> ReleaseOutcome:
        """Says how it ended; renewals go on meanwhile, and a loss heard now is only the answer's echo."""
        assert self.say is not None
        deadline = max(_LEAST_FINISH_S, min(held.ttl, held.until - now()))
        try:
            self.say(held.id, deadline)
        except UnavailableError as error:
            _log.warning("how a task ended could not be told: %s", error)
            return "unconfirmed"
        except ProblemError as error:
            if error.code == "stale-lease":
                return "missing"
            _log.error("how a task ended was refused: %s", error)
            return self._refused(held, error)
        except (ValueError, TypeError, RecursionError) as error:
            _log.error("a result is no JSON: %s", error)
            return self._refused(held, error)
        return "released"

    def _refused(self, held: HeldLease, error: Exception) -> ReleaseOutcome:
        """A result nobody can take is a failure of the task, which must not run again for nothing."""
        try:
            self._calls.fail(lease=held.id, error=f"the result was refused: {error}", retry=False)
        except (ProblemError, UnavailableError):
            return "unconfirmed"
        return "released"
