"""Claims tasks for a pod: one request id over every try, and nothing kept that nobody waits for."""

from __future__ import annotations

import logging
import math
from contextlib import suppress
from typing import Any, Callable

from ..backoff import lengthen, retry_delay, shorten
from ..calls.queues import QueueCalls
from ..clock import now
from ..errors import ProblemError, UnavailableError
from ..ids import new_request_id
from ..keeper.couriers import Asking, Couriers
from ..keeper.held import HeldLease
from ..keeper.pod import Pod
from ..transport import Cut
from ..wire.queues import ClaimAnswer, ClaimedTask
from .task import span

_log = logging.getLogger("fleetgate")
_MOST_A_CLAIM = 10
_HAND_BACK_S = 2.0

# A claimed task, its lease, and when it was claimed, at the latest.
Claimed = tuple[ClaimedTask, HeldLease, float]


class Claims:
    """Asks for tasks until stopped. `wait` is how long the server may hold one claim, in seconds."""

    def __init__(self, calls: QueueCalls, pod: Pod, couriers: Couriers, wait: float) -> None:
        self._calls = calls
        self._pod = pod
        self._couriers = couriers
        self._wait = wait
        # A worker that has had an answer outlives a refusal: the queue may be made anew, the key changed.
        self._answered = False
        self.asking = Asking(couriers)
        self.cut = Cut()

    def next(self, free: int, may_claim: Callable[[], bool]) -> list[Claimed]:
        """Waits for one to `free` tasks; none when `may_claim` has become false.

        Raises ProblemError for a refusal before any answer and for `stale-instance`, or what the asking was stopped
        with; what may still be granted is then handed back.
        """
        request = _Request()
        answer: ClaimAnswer | None = None
        try:
            while not answer or not answer["tasks"]:
                if not may_claim():
                    return []
                answer = self._ask(request, min(free, _MOST_A_CLAIM))
            return self._confirmed(answer["tasks"], request)
        except BaseException:
            if request.unsure:
                self._couriers.send(lambda: self._give_back(request))
            raise

    def hand_back(self, lease_id: str) -> None:
        """Gives a task back as if it had never been delivered: another worker may start it at once. Never raises."""
        with suppress(ProblemError, UnavailableError):
            self._calls.fail(
                lease=lease_id,
                retry=True,
                delay_ms=0,
                reason="no_capacity",
                deadline=_HAND_BACK_S,
            )

    def _ask(self, request: _Request, most: int) -> ClaimAnswer | None:
        sent_at = request.sent_at = now()
        # Once silence was met a short call tells sooner than a long one whether it is over.
        wait_ms = 0 if request.failures else round(shorten(self._wait) * 1_000)
        body = {**self._who(request), "max": most, "wait_ms": wait_ms}
        if request.unsure_since is None:
            request.unsure_since = sent_at
        try:
            answer: ClaimAnswer = self.asking.call(
                lambda: self._calls.claim(**body, repeat=False, cut=self.cut)
            )
        except UnavailableError as error:
            self.asking.raise_if_stopped()
            self._failed(request, error)
            return None
        except ProblemError as error:
            if error.code == "request-ended":
                request.start_over()
                return None
            if error.status < 500 and error.status != 429:
                request.unsure_since = None
            if error.code == "stale-instance":
                self._pod.replaced()
                raise
            if request.unsure_since is None and not self._answered:
                raise
            self._failed(request, error)
            return None
        self._answered = True
        if not answer["tasks"]:
            request.denied(waited=wait_ms > 0)
            self.asking.sleep(lengthen(answer.get("retry_after_ms", 1_000) / 1_000))
        return answer

    def _failed(self, request: _Request, error: UnavailableError | ProblemError) -> None:
        request.failures += 1
        if request.failures == 1:
            _log.warning("no claims for now: %s", error)
        hint = error.retry_after_ms
        pause = retry_delay(request.failures, None if hint is None else hint / 1_000, math.inf)
        self.asking.sleep(pause or 0.0)

    def _confirmed(self, tasks: list[ClaimedTask], request: _Request) -> list[Claimed]:
        """A lease lives from its grant, known only to lie after the first unheard try; old ones are renewed first."""
        heard_at = now()
        since = heard_at if request.unsure_since is None else request.unsure_since
        repeated_at = request.sent_at if request.failures else None
        claimed_at = {task["lease"]["id"]: _claimed_at(task, since, repeated_at, heard_at) for task in tasks}
        held = [_held(task, since, claimed_at[task["lease"]["id"]]) for task in tasks]
        if any(heard_at - since >= lease.ttl / 3 for lease in held):
            ids = [lease.id for lease in held]
            try:
                renewed_at, lost = self.asking.call(lambda: self._pod.renew(ids))
            except UnavailableError:
                self.asking.raise_if_stopped()
                return []  # not sure to be ours: they lapse, or the next beat would have said so
            held = [lease.renewed(renewed_at) for lease in held if lease.id not in lost]
        by_id = {task["lease"]["id"]: task for task in tasks}
        return [(by_id[lease.id], lease, claimed_at[lease.id]) for lease in held]

    def _give_back(self, request: _Request) -> None:
        answer: Any = None
        errand = self.asking.errand
        with suppress(Exception):
            answer = errand.result() if errand else None
        with suppress(ProblemError, UnavailableError):
            if not isinstance(answer, dict):
                answer = self._calls.claim(**self._who(request), max=_MOST_A_CLAIM, repeat=False)
            for task in answer.get("tasks", []):
                self.hand_back(task["lease"]["id"])

    def _who(self, request: _Request) -> dict[str, Any]:
        pod = self._pod
        return {
            "cluster": pod.cluster,
            "pod": pod.pod,
            "instance": pod.instance,
            "request_id": request.id,
            "attempt": request.denials,
        }


class _Request:
    """One logical claim."""

    def __init__(self) -> None:
        self.start_over()

    def start_over(self) -> None:
        self.id = new_request_id()
        self.denials = 0
        self.failures = 0
        self.sent_at = 0.0
        self.unsure_since: float | None = None

    @property
    def unsure(self) -> bool:
        return self.unsure_since is not None

    def denied(self, waited: bool) -> None:
        """After a whole wait the next claim is a new request: it need not be patient on top."""
        if waited:
            self.start_over()
        else:
            self.denials += 1
            self.failures = 0
            self.unsure_since = None


def _claimed_at(task: ClaimedTask, since: float, repeated_at: float | None, heard_at: float) -> float:
    """When it was claimed: after `since`, and where an earlier try may have, within a ttl, since its lease lives."""
    lease = task["lease"]
    # With a time limit that short nothing is known but that it lives; the coordinator ends it.
    is_short = task["deadline_at"] <= lease["expires_at"]
    if repeated_at is None or is_short:
        return heard_at
    return max(since, repeated_at - lease["ttl_ms"] / 1_000)


def _held(task: ClaimedTask, since: float, claimed_at: float) -> HeldLease:
    ttl = task["lease"]["ttl_ms"] / 1_000
    return HeldLease(task["lease"]["id"], ttl, since + ttl, claimed_at + span(task, task["deadline_at"]))
