"""How long a fleet's pods and leases live."""

from __future__ import annotations

from fleetgate import Fleet

# In seconds: where no lapse is meant, a stalled machine must cause none.
LONG = 30.0
# A pace at which the last beat of a pod is waited for: one given up would be passed on later, perhaps behind the leave.
UNHURRIED = 10.0


def set_ttl(fleet: Fleet, seconds: float, pace: float = 1.0) -> None:
    """Beats come every `pace` seconds."""
    ms = round(seconds * 1_000)
    fleet.put_policy(ttl_ms=ms, lease_ttl_ms=ms, heartbeat_ms=round(pace * 1_000))
