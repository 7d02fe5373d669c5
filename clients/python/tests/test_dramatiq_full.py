"""Dramatiq workers before a fleet that is full: what they fetch, what they leave, and what runs."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Callable, ClassVar

import pytest
from dramatiq.brokers.redis import RedisBroker
from support.broker import Broker
from support.dq import Studio
from support.program import Program
from support.until import until

from fleetgate import Fleet
from fleetgate.dramatiq.consumer import GatedConsumer
from fleetgate.dramatiq.worker import GatedWorker

Start = Callable[..., Program]


@pytest.fixture
def studio(broker: Broker, fleet: Fleet, program: Start) -> Iterator[Studio]:
    with closing(Studio(broker, fleet, program)) as made:
        yield made


def test_a_message_refused_ten_times_runs_once_and_has_used_no_retry(
    studio: Studio, broker: Broker, fleet: Fleet
) -> None:
    names = ["a", "b", "c"]
    messages = [studio.send("render", name, 0.1) for name in names]
    gated = RedisBroker(url=broker.url)
    with fleet.join("eu", "holder", keeper="thread") as holder, holder.slot():
        refused = GatedWorker(gated, fleet.join("eu", "refused", keeper="thread"), 1, "normal", 5.0)
        gated.declare_queue("render")
        gated.actors["render"] = _Actor()  # type: ignore[assignment]
        for _ in range(10):
            assert next(GatedConsumer(refused, "render", 100)) is None
        assert studio.waiting() == 3
        refused.end()
    gated.client.connection_pool.disconnect()
    worker = studio.worker("w-0")
    for name in names:  # their order is kept
        assert worker.says("start", 60).split()[0::3][:2] == [name, "0"]
    assert [studio.result(message) for message in messages] == [f"{name} by w-0" for name in names]
    assert sum(line.startswith("start") for line in worker.lines) == 3
    studio.all_done()


class _Actor:
    options: ClassVar[dict[str, str]] = {}


def test_a_full_fleet_stops_its_queue_and_no_other_and_the_next_slot_starts_it(
    studio: Studio, fleet: Fleet
) -> None:
    with fleet.join("eu", "holder", keeper="thread") as holder:
        held = holder.slot()
        worker = studio.worker("w-0")
        studio.is_live(2)
        studio.send("render", "t", 0.1)
        for name in ("x", "y"):
            studio.send("light", name, queue="light")
            assert worker.says("light").split() == [name, "None"]
        until(lambda: studio.waiting() == 1, "the message is with the broker")
        time.sleep(1)
        assert (studio.waiting(), fleet.status()["busy"]) == (1, 1)
        held.release()
        assert worker.says("start t").split()[2:] == ["0", "held"]
    until(lambda: fleet.status()["busy"] == 0, "the slot is free")


def test_a_worker_fetches_what_its_threads_can_start_and_an_idle_one_holds_no_slot(
    studio: Studio, fleet: Fleet
) -> None:
    worker = studio.worker("w-0", "--threads", "3")
    studio.is_live(3)
    assert fleet.status()["busy"] == 0
    messages = [studio.send("render", f"t{number}", 1.5) for number in range(5)]
    for _ in range(2):  # of 3 live places 2 may be taken
        worker.says("start")
    until(lambda: studio.waiting() == 3, "the other messages are with the broker")
    assert fleet.status()["busy"] == 2
    for message in messages:
        studio.result(message)
    until(lambda: fleet.status()["busy"] == 0, "a spare slot is given back", 20)
    studio.all_done()


def test_what_ends_actors_in_dramatiq_ends_those_of_the_gate_and_frees_their_slots(
    studio: Studio, fleet: Fleet
) -> None:
    worker = studio.worker("w-0", ASYNC="1")
    message = studio.send("coroutine", "c")
    assert worker.says("coroutine", 60) == "c normal"
    assert studio.result(message) == "c"
    studio.send("endless", "e")
    worker.says("start e")
    until(lambda: studio.dead() == 1, "the time limit has ended it")
    until(lambda: fleet.status()["busy"] == 0, "its slot is free")
    studio.send("until_shutdown", "s")
    worker.says("start s")
    worker.signal(signal.SIGTERM)
    worker.says("shutdown s")
    assert worker.ends() == 0
    assert (studio.unfinished(), studio.dead(), fleet.status()["busy"]) == (0, 2, 0)


def test_a_class_that_the_fleet_does_not_know_rests_its_queue_and_no_other(studio: Studio) -> None:
    worker = studio.worker("w-0")
    studio.send("unknown", queue="unknown")
    message = studio.send("render", "t", 0)
    worker.says("start t", 60)
    assert studio.result(message) == "t by w-0"
    until(lambda: "queue unknown rests for 10 s" in worker.errors, "the refusal is told")
    until(lambda: studio.waiting("unknown") == 1, "the message is with the broker")
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0
    assert "never" not in worker.lines


def test_an_operator_who_drains_the_pods_stops_the_fetching_until_that_is_taken_back(
    studio: Studio, fleet: Fleet
) -> None:
    worker = studio.worker("w-0")
    studio.is_at_work(worker)
    fleet.drain(drain=True)
    time.sleep(7)  # it is heard within 5 s and the next beat
    message = studio.send("render", "t", 0)
    time.sleep(2)
    assert studio.waiting() == 1
    fleet.drain(drain=False)
    worker.says("start t", 30)
    assert studio.result(message) == "t by w-0"
