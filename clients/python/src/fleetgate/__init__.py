"""Fleetgate's Python client: pods that count themselves, slots that take turns, queues whose tasks survive a crash.

Durations are seconds, as in the standard library, except where a name ends in `_ms` as on the wire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .client import Client
from .errors import (
    FleetgateError,
    LeaseLostError,
    NotGrantedError,
    PodClosedError,
    ProblemError,
    UnavailableError,
    UnsupportedError,
)
from .fleet import Fleet
from .jsontext import RawJson
from .keeper.lease import Lease
from .keeper.pod import Pod
from .queue import Queue
from .transport import Cut, Request, Response, Transport, TransportError
from .work.task import Task, TaskFailed
from .work.worker import Worker

if TYPE_CHECKING:
    from .aio import AsyncClient

__version__ = "0.1.0"

__all__ = [
    "AsyncClient",
    "Client",
    "Cut",
    "Fleet",
    "FleetgateError",
    "Lease",
    "LeaseLostError",
    "NotGrantedError",
    "Pod",
    "PodClosedError",
    "ProblemError",
    "Queue",
    "RawJson",
    "Request",
    "Response",
    "Task",
    "TaskFailed",
    "Transport",
    "TransportError",
    "UnavailableError",
    "UnsupportedError",
    "Worker",
]


def __getattr__(name: str) -> Any:
    # asyncio is heavy, and neither the keeper's process nor most workers need it.
    if name == "AsyncClient":
        from .aio import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
