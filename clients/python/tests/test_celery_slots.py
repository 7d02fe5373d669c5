"""Celery workers hold a slot for each marked task, until it has ended; leases live 3 s here."""

from __future__ import annotations

import signal
import time

import pytest
from support.farm import Farm
from support.ttl import LONG, set_ttl
from support.until import until

TTL = 3.0


@pytest.mark.parametrize("pool", ["prefork", "threads", "solo"])
def test_a_slot_is_held_while_a_task_runs_and_no_longer(farm: Farm, pool: str) -> None:
    worker = farm.worker("w-0", pool=pool)
    worker.says("ready")
    assert (farm.live, farm.busy) == (1, 0)
    result = farm.send("frame", "a", 1.5 * TTL)
    assert worker.says("start a").split()[2] == "held"
    time.sleep(TTL)
    assert farm.busy == 1
    worker.says("done a None")
    assert result.get(10) == "w-0"
    until(lambda: farm.busy == 0, "the slot is free", 1)
    assert (farm.queued, farm.unacked) == (0, 0)
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0
    assert farm.live == 0
    assert not any(line.startswith("told") for line in worker.lines)


@pytest.mark.parametrize("pool", ["prefork", "threads", "solo"])
def test_a_full_fleet_leaves_the_messages_in_their_queue_and_uses_no_retry(farm: Farm, pool: str) -> None:
    set_ttl(farm.fleet, LONG)
    with farm.fleet.join("eu", "other", keeper="thread") as other:
        held = other.slot()
        worker = farm.worker("w-0", pool=pool)
        worker.says("ready")
        sent = [farm.send("frame", str(number), 0.1) for number in range(3)]
        # Each refusal is followed by others while the fleet is full.
        for _ in range(10):
            time.sleep(0.3)
            until(lambda: (farm.queued, farm.unacked) == (3, 0), "no message is kept by the worker", 1)
        assert not any(line.startswith("start") for line in worker.lines)
        farm.send("urgent", "high")
        until(lambda: farm.queued == 4, "a queue that waits is not consumed for another class", 2)
        held.release()
        assert [one.get(10) for one in sent] == ["w-0"] * 3
    until(lambda: sum(line.startswith("done") for line in worker.lines) == 4, "all have run")
    starts = [line.split()[1:3] for line in worker.lines if line.startswith("start")]
    assert starts == [["0", "0"], ["1", "0"], ["2", "0"], ["high", "0"]]
    until(lambda: farm.busy == 0, "the slots are free", 1)


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_worker_has_no_more_messages_than_it_runs_tasks(farm: Farm, pool: str) -> None:
    worker = farm.worker("w-0", "-c", "2", pool=pool, SETTINGS='{"worker_prefetch_multiplier": 4}')
    worker.says("ready")
    assert farm.live == 2
    sent = [farm.send("urgent", str(number), 1.5) for number in range(4)]
    until(lambda: (farm.busy, farm.unacked, farm.queued) == (2, 2, 2), "two run, two are in the queue")
    time.sleep(0.5)
    assert (farm.busy, farm.unacked, farm.queued) == (2, 2, 2)
    for one in sent:
        one.get()
    starts = [line.split()[1] for line in worker.lines if line.startswith("start")]
    assert set(starts[:2]) == {"0", "1"}
    until(lambda: (farm.busy, farm.unacked, farm.queued) == (0, 0, 0), "nothing is left", 1)


def test_other_queues_go_on_while_one_waits(farm: Farm) -> None:
    worker = farm.worker("w-0", "-Q", "celery,other")
    worker.says("ready")
    with farm.fleet.join("eu", "other", keeper="thread") as other, other.slot():
        waits = farm.send("frame", "a")
        for number in range(3):
            farm.send("plain", str(number), queue="other")
            worker.says(f"plain {number}")
        until(lambda: (farm.queued, farm.unacked) == (1, 0), "only the marked one waits", 2)
    assert waits.get(10) == "w-0"


def test_a_worker_that_the_operator_drains_takes_no_task_until_that_is_taken_back(farm: Farm) -> None:
    worker = farm.worker("w-0")
    worker.says("ready")
    assert farm.send("frame", "a").get() == "w-0"
    farm.fleet.drain(pod="w-0", cluster="default", drain=True)
    time.sleep(3 * TTL)  # the coordinator remembers who drains for 5 s
    result = farm.send("frame", "b")
    time.sleep(TTL)
    assert (farm.queued, farm.unacked) == (1, 0)
    farm.fleet.drain(pod="w-0", cluster="default", drain=False)
    assert result.get() == "w-0"
