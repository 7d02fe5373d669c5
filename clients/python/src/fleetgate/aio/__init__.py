"""The client for asyncio: the same calls, made in threads (docs/python.md says why)."""

from .client import AsyncClient, AsyncFleet, AsyncLease, AsyncPod, AsyncQueue

__all__ = ["AsyncClient", "AsyncFleet", "AsyncLease", "AsyncPod", "AsyncQueue"]
