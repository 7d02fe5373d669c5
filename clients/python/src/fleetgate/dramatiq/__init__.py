"""Dramatiq actors behind the gate of a fleet: `broker.add_middleware(FleetgateMiddleware("render"))`."""

from __future__ import annotations

try:
    from .delivery import current_lease
    from .limiter import SlotRateLimiter
    from .middleware import FleetgateMiddleware, StartError
except ModuleNotFoundError as error:
    if error.name not in ("dramatiq", "redis"):
        raise
    message = f"fleetgate.dramatiq needs {error.name}: pip install 'fleetgate[dramatiq]'"
    raise ModuleNotFoundError(message, name=error.name) from None

__all__ = ["FleetgateMiddleware", "SlotRateLimiter", "StartError", "current_lease"]
