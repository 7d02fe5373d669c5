"""Celery workers that are killed, stopped or cut off; leases live 3 s here."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
from support.farm import Farm
from support.program import Program
from support.proxy import Proxy
from support.until import until

TTL = 3.0


# Kombu then looks for messages to restore all the time.
IMPATIENT = json.dumps(
    {
        "broker_transport_options": {
            "visibility_timeout": 1,
            "unacked_restore_interval": 0.2,
            "unacked_restore_throttle": 1,
        }
    }
)


def told(worker: Program) -> list[str]:
    return [line for line in worker.lines if line.startswith("told")]


@pytest.mark.parametrize("pool", ["prefork", "solo"])
def test_a_killed_workers_task_starts_elsewhere_when_its_slot_is_free(farm: Farm, pool: str) -> None:
    first = farm.worker("w-0", pool=pool)
    farm.send("frame", "a", 60)
    first.says("start a")
    second = farm.worker("w-1", pool=pool)
    second.says("ready")
    assert (farm.busy, farm.unacked) == (1, 1)
    os.killpg(first.pid, signal.SIGKILL)
    killed = time.monotonic()
    second.says("start a 0", 3 * TTL)
    assert time.monotonic() - killed < 2 * TTL
    assert farm.busy == 1


def test_a_worker_killed_while_it_asks_for_a_slot_loses_no_task(farm: Farm, proxy: Proxy) -> None:
    first = farm.worker("w-0", pool="prefork", FLEETGATE_URL=proxy.url)
    farm.send("frame", "first").get(20)
    proxy.hold()
    farm.send("frame", "a")
    until(lambda: farm.unacked == 1, "its message is taken")
    time.sleep(0.5)
    os.killpg(first.pid, signal.SIGKILL)
    second = farm.worker("w-1", pool="prefork")
    second.says("start a 0")


def test_a_task_longer_than_the_visibility_timeout_runs_once(farm: Farm) -> None:
    first = farm.worker("w-0", pool="prefork", SETTINGS=IMPATIENT)
    second = farm.worker("w-1", pool="prefork", SETTINGS=IMPATIENT)
    first.says("ready")
    second.says("ready")
    # Of class high, so that a second run would find a slot at once.
    farm.send("urgent", "a", 4).get(20)
    until(lambda: (farm.queued, farm.unacked) == (0, 0), "nothing is left", 1)
    assert sum(line.startswith("start") for line in first.lines + second.lines) == 1


@pytest.mark.parametrize("pool", ["prefork", "threads", "solo"])
def test_a_worker_that_was_stopped_writes_no_result_when_it_goes_on(farm: Farm, pool: str) -> None:
    first = farm.worker("w-0", pool=pool)
    first.says("ready")
    result = farm.send("frame", "a", 30)
    first.says("start a")
    os.killpg(first.pid, signal.SIGSTOP)
    second = farm.worker("w-1", pool=pool)
    second.says("start a 0", 15)
    os.killpg(first.pid, signal.SIGCONT)
    until(lambda: told(first), "the task is told")
    until(lambda: any(line.startswith("lost a") for line in first.lines), "the task hears of it")
    time.sleep(TTL)
    # Nothing of the second worker's was released, acknowledged or given back.
    assert (farm.busy, farm.unacked, farm.queued) == (1, 1, 0)
    assert result.state == "PENDING"
    first.signal(signal.SIGTERM)
    assert first.ends() == 0
    assert (farm.busy, farm.unacked, farm.queued) == (1, 1, 0)
    assert len(told(first)) == 1


def test_a_lost_slots_task_is_delivered_again_without_a_retry(farm: Farm) -> None:
    worker = farm.worker("w-0", pool="prefork")
    worker.says("ready")
    result = farm.send("frame", "a", 2)
    worker.says("start a")
    [pod] = farm.fleet.pods()["pods"]
    farm.fleet.release(leases=[pod["leases"][0]["id"]])
    assert worker.says("told a") == "told"
    worker.says("start a 0")
    assert result.get(10) == "w-0"


@pytest.mark.parametrize("pool", ["threads", "solo"])
def test_a_task_that_holds_the_interpreter_lock_keeps_slot_and_message(farm: Farm, pool: str) -> None:
    workers = [farm.worker(name, pool=pool) for name in ("w-0", "w-1")]
    for worker in workers:
        worker.says("ready")
    # Of class high, so that a second run would find a slot at once.
    farm.send("locked", "a", 2.5 * TTL).get(20)
    until(lambda: (farm.busy, farm.queued, farm.unacked) == (0, 0, 0), "nothing is left", TTL)
    assert sum(line.startswith("start") for worker in workers for line in worker.lines) == 1
