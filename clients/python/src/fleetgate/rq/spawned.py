"""The lease of a job whose process shares no memory with its worker's, since it was spawned instead of forked."""

from __future__ import annotations

import os

from redis.exceptions import RedisError
from rq.queue import Queue

from ..clock import now
from ..keeper.lease import Lease
from ..keeper.lost import LeaseView
from .claims import Claim, Claims

_VARIABLE = "FLEETGATE_RQ_CLAIM"
# How old the last look at the claim may be.
_LOOK_S = 0.5


class SpawnedLease(LeaseView):
    """Held as long as the worker keeps the job's claim: that one gives it back as soon as the slot is lost.

    Its loss is `told` in any case.
    """

    def __init__(self, claims: Claims, claim: Claim, lease_id: str | None, cls: str) -> None:
        super().__init__(lease_id, cls)
        self.claim = claim
        self._claims = claims
        self._looked_at = now()

    def _judge(self) -> None:
        if self._reason is not None or now() < self._looked_at + _LOOK_S:
            return
        self._looked_at = now()
        try:
            is_held = self._claims.holds(self.claim)
        except RedisError:
            return  # nothing is known, and no result can be written either
        self._found_lost(None if is_held else "told")


def tell_child(claim: Claim, lease: Lease) -> None:
    """Leaves word of the claim in the environment, for a process that is spawned next."""
    os.environ[_VARIABLE] = " ".join((claim.id, lease.cls, lease.id or ""))


def told_by_parent(claims: Claims, queue: Queue, job_id: str) -> SpawnedLease:
    """The lease whose word stands in this process's environment."""
    claim_id, cls, lease_id = os.environ[_VARIABLE].split(" ")
    return SpawnedLease(claims, Claim(queue, job_id, claim_id), lease_id or None, cls)
