"""What operators and scalers ask, against the real coordinator; and streams of events that end in every way."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from support.proxy import Proxy
from support.server import FaultyServer, Reply, Seen, unavailable
from support.until import until

from fleetgate import AsyncClient, Client, Cut, Fleet, ProblemError, Queue, UnavailableError, UnsupportedError

POD = {"cluster": "eu", "pod": "w-0", "instance": "1"}


def test_what_to_scale_by_who_is_idle_who_drains_and_the_histories(
    client: Client, fleet: Fleet, queue: Queue
) -> None:
    fleet.put_policy()
    for pod in ("a", "b"):
        fleet.heartbeat(cluster="eu", pod=pod)
    fleet.acquire(cluster="eu", pod="a")
    queue.enqueue(1)
    assert fleet.scale() == {"live": 2, "busy": 1, "capacity": 1, "wanted": 2}
    assert fleet.scale(cls="high", spare=3)["wanted"] == 4
    assert queue.scale() == {"backlog": 1, "in_flight": 0, "wanted": 2}
    (idle,) = fleet.idle(limit=1)["pods"]
    assert (idle["cluster"], idle["pod"]) == ("eu", "b")
    fleet.drain(cluster="eu", pod="b", drain=True)
    assert fleet.draining() == {"draining": [{"cluster": "eu", "pod": "b"}]}
    assert fleet.history(span="24h")["span"] == "24h"
    assert queue.history()["step_ms"] == 60_000
    (listed,) = client.queues(fleet=fleet.name)["queues"]
    assert (listed["queue"], listed["ready"]) == (queue.name, 1)
    with pytest.raises(ProblemError, match="unknown-class"):
        fleet.scale(cls="none")


def test_events_tell_what_happens_to_a_fleet_from_a_snapshot_on(fleet: Fleet) -> None:
    fleet.put_policy()
    told: list[Any] = []
    for event in fleet.events():
        told.append(event)
        if event["event"] == "snapshot":
            fleet.heartbeat(**POD)
        elif event["event"] == "joined":
            fleet.acquire(**POD)
        elif event["event"] == "full":
            fleet.leave(**POD)
        elif event["event"] == "left":
            break
    pod = {**POD, "state": "ready", "slots": 1}
    assert [{**one, "at": 0} for one in told if one["event"] != "freed"] == [
        {"event": "snapshot", "at": 0, "live": 0, "busy": 0, "capacity": 1, "full": False, "pods": 0},
        {"event": "joined", "at": 0, **pod},
        {"event": "full", "at": 0, "live": 1, "busy": 1, "capacity": 1},
        {"event": "left", "at": 0, **pod},
    ]


def stream(text: str) -> Reply:
    return {"headers": {"content-type": "text/event-stream"}, "text": text}


def full(at: int) -> str:
    return f'event: full\ndata: {{"at":{at},"word":"é😀"}}\n\n'


def test_events_come_back_with_the_last_id_after_each_end_and_none_is_told_twice() -> None:
    replies = [
        stream(f"retry: 10\n\nid: 1\n{full(1)}"),
        stream(f": quiet\nid: 2\n\n{full(3)}{full(4)[:9]}"),
        unavailable(),
        {**stream(full(3) * 2), "fault": "cut"},
        stream(f"{full(3)}id: 4\nevent: freed\ndata: {{}}\n\n"),
    ]

    def respond(_: Seen, number: int) -> Reply:
        return replies[number] if number < len(replies) else {"status": 401}

    told: list[Any] = []
    # A refusal is no outage: it ends the loop.
    with FaultyServer(respond) as server, pytest.raises(ProblemError) as refused:
        for event in Client(server.url, "fg_k").fleet("f").events():
            told.append(event)
    assert refused.value.status == 401
    word = "é😀"
    assert told == [
        {"event": "full", "at": 1, "word": word},
        {"event": "full", "at": 3, "word": word},
        {"event": "freed"},
    ]
    assert [one.headers.get("last-event-id") for one in server.seen] == [None, "1", "2", "2", "2", "4"]
    assert server.seen[0].headers["accept"] == "text/event-stream"


def test_events_give_up_after_a_time_out_of_reach_if_one_is_given() -> None:
    with FaultyServer(lambda *_: unavailable()) as server:
        events = Client(server.url, "fg_k").fleet("f").events(deadline=0.3)
        with pytest.raises(UnavailableError, match="did not answer in time"):
            next(events)


def test_events_end_when_they_are_cut_from_another_thread(fleet: Fleet) -> None:
    cut = Cut()
    told: list[Any] = []
    listening = threading.Thread(target=lambda: told.extend(fleet.events(cut=cut)))
    heard = fleet.events()
    listening.start()
    assert next(heard)["event"] == "snapshot"  # by now the other has its own, or is about to
    heard.close()
    time.sleep(0.2)
    cut.cut()
    listening.join(10)
    assert not listening.is_alive()
    assert [one["event"] for one in told] in ([], ["snapshot"])


def test_calls_go_on_beside_events_and_a_transport_of_ones_own_has_none(fleet: Fleet) -> None:
    events = fleet.events()
    next(events)
    assert fleet.status()["live"] == 0
    events.close()
    with pytest.raises(UnsupportedError):
        Client("http://x", "fg_k", transport=lambda _: pytest.fail("it was asked")).fleet("f").events()


def test_the_async_twins_listen_and_hang_up_when_cancelled(fleet: Fleet, queue: Queue, proxy: Proxy) -> None:
    async def main() -> None:
        client = AsyncClient()
        assert (await client.fleet(fleet.name).scale())["wanted"] == 0
        assert (await client.queue(queue.name).scale())["wanted"] == 0
        assert (await client.queues(fleet=fleet.name))["queues"] != []
        told: list[Any] = []

        async def listen() -> None:
            async for event in AsyncClient(proxy.url).fleet(fleet.name).events():
                told.append(event)

        listening = asyncio.create_task(listen())
        while not told:
            await asyncio.sleep(0.02)
        assert proxy.passing > 0
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        assert told[0]["event"] == "snapshot"

    asyncio.run(asyncio.wait_for(main(), 60))
    until(lambda: proxy.passing == 0, "the stream is hung up")
