"""The asyncio twins: every name and argument is that of the synchronous client."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any

from ..calls.filters import FilterCalls
from ..calls.limits import LimitCalls
from ..calls.queues import QueueCalls
from ..client import Client
from ..errors import PodClosedError
from ..fleet import Fleet
from ..keeper.lease import Lease, ReleaseOutcome
from ..keeper.pod import Pod
from ..keeper.presence import LeaveOutcome
from ..transport import Cut
from ..wire.fleets import PodsAnswer
from ..wire.operate import FleetEvent
from .twin import Bridge, Twin, twin


class AsyncLease:
    """A slot held by a coroutine; leaving `async with` gives it back."""

    def __init__(self, bridge: Bridge, lease: Lease) -> None:
        self.sync = lease
        self._bridge = bridge
        self._loop = asyncio.get_running_loop()
        # Set in the event loop when the lease is lost.
        self.lost = asyncio.Event()
        lease.on_lost(self._lose)

    @property
    def id(self) -> str | None:
        """The coordinator's id; None when degraded."""
        return self.sync.id

    @property
    def degraded(self) -> bool:
        """True when the coordinator was out of reach and the pod goes on without a slot."""
        return self.sync.degraded

    def check(self) -> None:
        """Raises LeaseLostError if the lease is lost. Call it before writing a result."""
        self.sync.check()

    async def release(self) -> ReleaseOutcome:
        """Gives the slot back, once. Never raises."""
        return await self._bridge.run(self.sync.release)

    async def __aenter__(self) -> AsyncLease:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Shielded: a cancelled task must give its slot back too.
        await asyncio.shield(self.release())

    def _lose(self, _: Lease) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.lost.set)


class AsyncPod(Twin):
    """A pod for coroutines; `sync` is the pod itself."""

    _sync: Pod
    drain = twin(Pod.drain)
    ready = twin(Pod.ready)

    @property
    def sync(self) -> Pod:
        """The pod, for its properties."""
        return self._sync

    @contextlib.asynccontextmanager
    async def slot(
        self, *, cls: str | None = None, wait: float | None = 0, ttl: float | None = None
    ) -> AsyncIterator[AsyncLease]:
        """`async with pod.slot(wait=30) as lease:`; as `Pod.slot`. Cancelling the wait leaves nothing behind."""
        asking = self._sync.asking()
        try:
            lease = await self._bridge.make(
                lambda: self._sync.slot(cls=cls, wait=wait, ttl=ttl, asking=asking), Lease.release
            )
        except asyncio.CancelledError:
            asking.stop(PodClosedError("draining"))
            raise
        async with AsyncLease(self._bridge, lease) as held:
            yield held

    async def leave(self) -> LeaveOutcome:
        """Ends every lease still held and takes the pod out of the count. Never raises."""
        return await self._bridge.run(self._sync.leave)

    async def __aenter__(self) -> AsyncPod:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.shield(self.leave())


class AsyncFleet(Twin):
    """The calls of one fleet, and the joining of it."""

    _sync: Fleet
    heartbeat = twin(Fleet.heartbeat)
    heartbeats = twin(Fleet.heartbeats)
    acquire = twin(Fleet.acquire)
    release = twin(Fleet.release)
    leave = twin(Fleet.leave)
    status = twin(Fleet.status)
    pods = twin(Fleet.pods)
    get_policy = twin(Fleet.get_policy)
    put_policy = twin(Fleet.put_policy)
    drain = twin(Fleet.drain)
    draining = twin(Fleet.draining)
    scale = twin(Fleet.scale)
    idle = twin(Fleet.idle)
    history = twin(Fleet.history)

    async def pod_pages(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> AsyncIterator[PodsAnswer]:
        """Every page of pods, one after the other, asked for as it is read."""
        while True:
            page = await self.pods(cursor=cursor, limit=limit)
            yield page
            cursor = page.get("next")
            if cursor is None:
                return

    async def events(
        self, *, last_event_id: str | None = None, deadline: float | None = None
    ) -> AsyncIterator[FleetEvent]:
        """As `Fleet.events`; cancelling the task that reads, or `aclose()`, hangs up."""
        cut = Cut()
        stream = self._sync.events(last_event_id=last_event_id, deadline=deadline, cut=cut)
        try:
            while (event := await self._bridge.run(lambda: next(stream, None))) is not None:
                yield event
        finally:
            cut.cut()
            # One that is under way hears of the cut and ends by itself.
            with contextlib.suppress(ValueError):
                stream.close()

    async def join(self, *args: Any, **options: Any) -> AsyncPod:
        """Joins as `Fleet.join` does; signals are the event loop's own to handle. Cancelling leaves nothing behind."""
        pod = await self._bridge.make(lambda: self._sync.join(*args, **options), Pod.leave)
        return AsyncPod(self._bridge, pod)


class AsyncQueue(Twin):
    """The calls of one queue; a worker runs handlers in threads, so it is the synchronous client's."""

    put = twin(QueueCalls.put)
    get = twin(QueueCalls.get)
    enqueue = twin(QueueCalls.enqueue)
    enqueue_batch = twin(QueueCalls.enqueue_batch)
    claim = twin(QueueCalls.claim)
    complete = twin(QueueCalls.complete)
    fail = twin(QueueCalls.fail)
    task = twin(QueueCalls.task)
    cancel = twin(QueueCalls.cancel)
    dead = twin(QueueCalls.dead)
    redrive = twin(QueueCalls.redrive)
    purge = twin(QueueCalls.purge)
    scale = twin(QueueCalls.scale)
    history = twin(QueueCalls.history)


class AsyncLimit(Twin):
    """The calls of one limit."""

    put = twin(LimitCalls.put)
    get = twin(LimitCalls.get)
    delete = twin(LimitCalls.delete)
    take = twin(LimitCalls.take)
    settle = twin(LimitCalls.settle)
    peek = twin(LimitCalls.peek)


class AsyncFilter(Twin):
    """The calls of one filter."""

    put = twin(FilterCalls.put)
    get = twin(FilterCalls.get)
    delete = twin(FilterCalls.delete)
    add = twin(FilterCalls.add)
    check = twin(FilterCalls.check)
    guard = twin(FilterCalls.guard)
    rotate = twin(FilterCalls.rotate)


class AsyncClient(Twin):
    """The client for asyncio; arguments as of Client, whose calls it makes in threads."""

    _sync: Client
    fleets = twin(Client.fleets)
    queues = twin(Client.queues)
    limits = twin(Client.limits)
    take = twin(Client.take)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(Bridge(), Client(*args, **options))

    def fleet(self, name: str) -> AsyncFleet:
        """The calls of one fleet, and the keeper."""
        return AsyncFleet(self._bridge, self._sync.fleet(name))

    def queue(self, name: str) -> AsyncQueue:
        """The calls of one queue."""
        return AsyncQueue(self._bridge, self._sync.queue(name))

    def limit(self, name: str) -> AsyncLimit:
        """The calls of one limit."""
        return AsyncLimit(self._bridge, self._sync.limit(name))

    def filter(self, name: str) -> AsyncFilter:
        """The calls of one filter."""
        return AsyncFilter(self._bridge, self._sync.filter(name))
