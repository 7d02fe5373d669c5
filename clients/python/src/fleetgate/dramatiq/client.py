"""The client of a process whose code names fleets only."""

from __future__ import annotations

from functools import lru_cache

from ..client import Client
from ..fleet import Fleet


@lru_cache(maxsize=1)
def _client() -> Client:
    return Client()


def fleet_of(fleet: str | Fleet) -> Fleet:
    """The fleet of a name. Middleware and limiters that name the same one share its pod. Raises ValueError."""
    return _client().fleet(fleet) if isinstance(fleet, str) else fleet
