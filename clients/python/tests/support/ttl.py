"""How long a fleet's pods and leases live."""

from __future__ import annotations

from fleetgate import Fleet

# In seconds: where no lapse is meant, a stalled machine must cause none.
LONG = 30.0


def set_ttl(fleet: Fleet, seconds: float) -> None:
    """Beats come every second."""
    ms = round(seconds * 1_000)
    fleet.put_policy(ttl_ms=ms, lease_ttl_ms=ms, heartbeat_ms=1_000)
