"""Turns a method that waits into one that is awaited."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from ..keeper.couriers import Couriers

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

R = TypeVar("R")


class Bridge:
    """Runs calls in threads of its own: a full default executor of the program's must not delay a release."""

    def __init__(self) -> None:
        self._couriers = Couriers()

    async def run(self, work: Callable[[], R]) -> R:
        """What the work gives or raises. When the awaiting task is cancelled, the work is heard to its end unseen."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def end() -> None:
            if not ended.done():
                ended.set_result(None)

        def tell() -> None:
            try:
                loop.call_soon_threadsafe(end)
            except RuntimeError:
                return  # the loop is closed, so nobody waits

        errand = self._couriers.send(work, tell)
        await ended
        result: R = errand.result()
        return result

    async def make(self, work: Callable[[], R], undo: Callable[[R], object]) -> R:
        """What the work makes; undone when the awaiting task is cancelled, by its thread if that is still at it."""
        made: list[R] = []
        given_up = False

        def run() -> None:
            made.append(work())
            if given_up:
                undo(made[0])

        try:
            await self.run(run)
        except asyncio.CancelledError:
            given_up = True
            for one in made:
                await asyncio.shield(self.run(functools.partial(undo, one)))
            raise
        return made[0]


class Twin:
    """Something synchronous with its bridge."""

    def __init__(self, bridge: Bridge, sync: Any) -> None:
        self._bridge = bridge
        self._sync = sync


def twin(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], Awaitable[R]]:
    """The awaited form of a method of what `self._sync` is."""

    async def awaited(self: Twin, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._bridge.run(lambda: method(self._sync, *args, **kwargs))

    functools.update_wrapper(awaited, method)
    return awaited
