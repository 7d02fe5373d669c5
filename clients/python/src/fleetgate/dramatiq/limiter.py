"""A ConcurrentRateLimiter whose limit is the fleet's live capacity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dramatiq import RateLimitExceeded
from dramatiq.rate_limits import RateLimiter

from ..errors import NotGrantedError, PodClosedError, UnavailableError
from ..fleet import Fleet
from ..keeper.lease import Lease
from .client import fleet_of


class SlotRateLimiter(RateLimiter):
    """Stands where `ConcurrentRateLimiter(backend, key, limit=…)` stood: `with limiter.acquire():` holds a slot.

    The slot is a lease that the keeper renews: it is free at once after the block, and within its ttl after a crash.
    """

    def __init__(self, fleet: str | Fleet, *, cls: str = "normal") -> None:
        """Connects to nothing yet. `fleet`: a name, or a client's fleet."""
        self._fleet = fleet
        self._cls = cls
        self.key = f"{fleet if isinstance(fleet, str) else fleet.name}/{cls}"

    @contextmanager
    def acquire(self, *, raise_on_failure: bool = True) -> Iterator[Lease | None]:
        """Holds a slot in the block: the lease, which is true; or None, without a slot, if it must not raise.

        Raises RateLimitExceeded when the fleet is full, or out of reach and its client is closed to that; ProblemError.
        """
        try:
            lease = fleet_of(self._fleet).slot(cls=self._cls)
        except (NotGrantedError, UnavailableError, PodClosedError) as error:
            if raise_on_failure:
                words = f"rate limit exceeded for key {self.key!r}: {error}"
                raise RateLimitExceeded(words) from error  # type: ignore[no-untyped-call]
            yield None
            return
        with lease:
            yield lease
