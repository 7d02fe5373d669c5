"""The asyncio twins, against the real coordinator."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import pytest
from support.until import until

from fleetgate import AsyncClient, Fleet, NotGrantedError, Queue


def test_slots_are_held_by_coroutines(fleet: Fleet) -> None:
    async def main() -> None:
        mine = AsyncClient().fleet(fleet.name)
        async with await mine.join("eu", "w-0", keeper="thread") as pod:
            async with pod.slot(wait=5) as lease:
                assert (await mine.status())["busy"] == 1
                with pytest.raises(NotGrantedError):
                    async with pod.slot():
                        pass
                lease.check()
            assert (await mine.status())["busy"] == 0
            async with pod.slot(wait=5) as lease:
                await mine.release(leases=[lease.id or ""])
                await asyncio.wait_for(lease.lost.wait(), 5)
                assert lease.sync.reason == "told"
        pages = [page async for page in mine.pod_pages()]
        assert [page["pods"] for page in pages] == [[]]

    asyncio.run(main())


def test_a_cancelled_wait_leaves_nothing_behind(fleet: Fleet) -> None:
    async def main() -> None:
        mine = AsyncClient().fleet(fleet.name)
        async with await mine.join("eu", "w-0", keeper="thread") as pod:

            async def wait() -> None:
                async with pod.slot(wait=30):
                    raise AssertionError("it must not be granted")

            async with pod.slot(wait=5):
                waiting = asyncio.create_task(wait())
                await asyncio.sleep(0.3)
                started = time.monotonic()
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
                assert time.monotonic() - started < 1
            until(lambda: fleet.status()["busy"] == 0, "what the wait was granted is given back")

    asyncio.run(main())


def test_a_cancelled_join_leaves_no_pod(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "python"  # so that the keeper starts late
    slow.write_text(f'#!/bin/sh\nsleep 1\nexec "{sys.executable}" "$@"\n')
    slow.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(slow))

    async def main() -> None:
        joining = asyncio.create_task(AsyncClient().fleet(fleet.name).join("eu", "w-0"))
        while not fleet.pods()["pods"]:
            await asyncio.sleep(0.02)
        joining.cancel()
        with pytest.raises(asyncio.CancelledError):
            await joining
        until(lambda: not fleet.pods()["pods"], "it has left again")

    asyncio.run(main())


def test_the_other_calls_have_twins(queue: Queue) -> None:
    async def main() -> None:
        client = AsyncClient()
        mine = client.queue(queue.name)
        tasks = await asyncio.gather(*(mine.enqueue({"n": number}) for number in range(5)))
        assert len({task["id"] for task in tasks}) == 5
        assert (await mine.get())["ready"] == 5
        assert {"fleet": queue.get()["config"]["fleet"]}.items() <= (await mine.get())["config"].items()
        assert await client.fleets() is not None

    asyncio.run(main())
