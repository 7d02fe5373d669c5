"""RQ's workers, each job of theirs under a slot of a fleet."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
import time
from types import FrameType
from typing import Any, Callable

from redis import ConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq.connections import parse_connection
from rq.exceptions import StopRequested
from rq.job import Job
from rq.queue import Queue
from rq.registry import StartedJobRegistry
from rq.timeouts import TimerDeathPenalty

from ..backoff import beat_delay
from ..errors import UnavailableError
from ..keeper.lease import Lease
from ..keeper.pod import Pod
from ..keeper.shutdown import can_listen, on_signals, undisturbed
from .checks import problems, refuse_old_redis
from .claims import Claim, Claims
from .gating import Gating
from .looking import Looking
from .taking import Taken
from .upkeep import Upkeep

# How long a command about claims may take: renewals must not hang on a dead connection.
_SOCKET_TIMEOUT_S = 5
_LEAVE_S = 3.0
# RQ takes a second signal within one second for the same.
_LEAST_GRACE_S = 1.1
# How long RQ holds a started job of a gated worker for alive; the claim tells much sooner.
_RQ_TTL_S = 3_600


class Gated(Looking):
    """Mixed in before a worker class of RQ's. `gating` may be given as an argument or by a subclass."""

    def __init__(self, *args: Any, gating: Gating | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gating = gating or self.gating
        self.claims = Claims(self.connection, self.job_class, self.gating.max_deliveries)
        self._ended = threading.Event()

    # Beginning and end.

    def work(self, *args: Any, **kwargs: Any) -> bool:
        """As RQ's, which listens to signals only once it has begun: one that comes earlier ends the worker too."""
        heard: list[int] = []
        if can_listen():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, _ender(heard))
        try:
            return super().work(*args, **kwargs)
        except StopRequested:
            return False
        except Exception:
            # Raised inside of a lock's own steps, for one, the end comes out as another error.
            if heard:
                return False
            raise
        finally:
            with undisturbed():
                if not self._ended.is_set():
                    self._break_off()
                if hasattr(self, "_pod"):
                    self._pod.leave(_LEAVE_S)

    def bootstrap(self, *args: Any, **kwargs: Any) -> None:
        """Joins the fleet and says what is set wrong. Raises ValueError, ProblemError."""
        self.gating = self.gating.resolved()
        refuse_old_redis(self)
        self._pod = self._join()
        super().bootstrap(*args, **kwargs)
        for problem in problems(self):
            self.log.warning("Worker %s: %s", self.name, problem)
        self._beside = Claims(own_connection(self.connection), self.job_class, self.gating.max_deliveries)
        self._upkeep = Upkeep(self._beside, self.queues, self._gone, self._spent)
        self._upkeep.start()

    def teardown(self) -> None:
        """Hands back what is still in hand and leaves the fleet."""
        if not self.is_horse:
            with undisturbed():
                self._ended.set()
                self._let_go()
                self._upkeep.stop()
                self._pod.leave(_LEAVE_S)
        super().teardown()

    def _break_off(self) -> None:
        """A signal ended it while it started, which RQ does not expect: no trace of it is to stay."""
        if hasattr(self, "_upkeep"):
            self._upkeep.stop()
        # Else nobody could start under its name until RQ's record lapses, and its scheduler would run on.
        if self.birth_date is not None:
            # A call may have been torn apart on a connection of the worker's.
            self.connection = own_connection(self.connection)
            with contextlib.suppress(RedisError):
                super().teardown()

    # Running it.

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Runs the job in hand as RQ does; what is not decided in the end goes back to its queue."""
        held = self.held
        assert held is not None and isinstance(held.lease, Lease)
        try:
            self._upkeep.hold(held.claim, held.lease)
            held.lease.on_lost(lambda _: self._lost(held))
            # From here on the claim lives as long as the lease does, which may be shorter.
            is_ours = self.claims.keep(held.claim, self._upkeep.ttl, shorten=True)
            if is_ours and not self._stop_requested:
                super().execute_job(job, queue)
        finally:
            self._let_go()
            self._is_taking = False
        if self.broken_off:
            raise SystemExit

    def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:
        """RQ's own record of a started job stays behind the claim, so that RQ does not count it as failed first."""
        return max(_RQ_TTL_S, super().get_heartbeat_ttl(job, working_time))

    def prepare_job_execution(self, job: Job, remove_from_intermediate_queue: bool = False) -> None:
        """As RQ's, but the worker itself is not held for alive that long."""
        super().prepare_job_execution(job, remove_from_intermediate_queue)
        self.heartbeat(self.job_monitoring_interval + 60)

    def _let_go(self) -> None:
        held, self.held = self.held, None
        self._upkeep.drop()
        if held is None or not isinstance(held.lease, Lease):
            return
        held.ended.set()
        if self._gave_back(self.claims, held):
            self.log.warning("Worker %s: job %s was handed back", self.name, held.job.id)
        held.lease.release()

    def _gave_back(self, claims: Claims, held: Taken) -> bool:
        try:
            return claims.give_back(held.claim)
        except RedisError as error:
            self.log.error(
                "Worker %s: job %s goes back in %.0f s: %s", self.name, held.job.id, self._upkeep.ttl, error
            )
            return False

    def _lost(self, held: Taken) -> None:
        """In a thread of its own: the slot is lost while the job runs."""
        if held.ended.is_set():
            return
        self.log.warning(
            "Worker %s: job %s lost its slot (%s) and goes back", self.name, held.job.id, held.lease.reason
        )
        self._gave_back(self._beside, held)
        patience = self.gating.lost_grace
        if patience is None or held.ended.wait(patience):
            return
        horse = self.horse_pid
        if horse and not held.ended.is_set():
            self.log.warning(
                "Worker %s: job %s did not end, its work-horse is killed", self.name, held.job.id
            )
            with contextlib.suppress(ProcessLookupError):
                os.killpg(horse, signal.SIGKILL)

    def _gone(self, claim: Claim) -> None:
        """In the upkeep's thread: another worker was given the job, since its claim had lapsed."""
        held = self.held
        if held is not None and held.claim is claim and isinstance(held.lease, Lease):
            held.lease.lose("told")

    def _spent(self, queue: Queue) -> None:
        """In the upkeep's thread: RQ's rule for abandoned jobs, a Retry if there is one, else the failed ones."""
        registry = StartedJobRegistry(
            queue=queue, job_class=self.job_class, death_penalty_class=TimerDeathPenalty
        )
        registry.cleanup(timestamp=1, exception_handlers=self._exc_handlers)

    # Ending.

    def request_force_stop(self, signum: int, frame: FrameType | None) -> None:
        """Cold shutdown: what runs is broken off and handed back."""
        try:
            super().request_force_stop(signum, frame)
        except SystemExit:
            self.broken_off = True
            raise

    def _install_signal_handlers(self) -> None:
        super()._install_signal_handlers()
        if can_listen():
            on_signals(lambda _: self._begin_to_end(), signal.SIGINT, signal.SIGTERM)

    def _begin_to_end(self) -> None:
        """In a thread of its own: the pod drains, and `grace` begins."""
        self._pod.drain(wait=0)
        grace = self.gating.grace
        if grace is not None and not self._ended.wait(max(_LEAST_GRACE_S, grace)):
            os.kill(os.getpid(), signal.SIGTERM)

    def _join(self) -> Pod:
        failures = 0
        while True:
            try:
                pod = self.gating.join()
            except UnavailableError as error:
                failures += 1
                self.log.error("Worker %s: cannot join yet, will try on: %s", self.name, error)
                time.sleep(beat_delay(failures, None, math.inf))
                continue
            self.log.info("Worker %s: joined %s as %s/%s", self.name, pod.fleet, pod.cluster, pod.pod)
            return pod


def _ender(heard: list[int]) -> Callable[[int, FrameType | None], None]:
    """A handler that ends the program, once: a pool also sends what each of a terminal's processes gets by itself."""

    def end(number: int, _: FrameType | None) -> None:
        heard.append(number)
        if len(heard) == 1:
            raise SystemExit

    return end


def own_connection(connection: Redis) -> Redis:
    """Another to the same Redis, which neither waits long nor tries again by itself."""
    client_class, connection_class, kwargs = parse_connection(connection)
    kwargs["socket_timeout"] = _SOCKET_TIMEOUT_S
    # The upkeep must know at once that Redis is away, and tries again by itself.
    kwargs["retry"] = Retry(NoBackoff(), 0)
    return client_class(connection_pool=ConnectionPool(connection_class=connection_class, **kwargs))
