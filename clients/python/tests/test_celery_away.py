"""Celery workers without their coordinator, or without their broker, for a while."""

from __future__ import annotations

import signal
import time

import pytest
from support.farm import Farm
from support.proxy import Proxy
from support.until import until

TTL = 3.0
# A worker beats at most twice a pace, which is a third of the ttl, and asks for slots beside that.
MOST_CALLS_A_SECOND = 10
OUTAGE_S = 30.0


@pytest.mark.long
def test_open_it_goes_on_without_slots_and_takes_them_again_afterwards(farm: Farm, proxy: Proxy) -> None:
    worker = farm.worker("w-0", pool="prefork", FLEETGATE_URL=proxy.url)
    worker.says("ready")
    proxy.shut()
    shut, calls = time.monotonic(), len(proxy.refused)
    result = farm.send("frame", "a", OUTAGE_S)
    assert worker.says("start a").split()[2] == "degraded"
    worker.says("done a None", OUTAGE_S + 10)
    assert result.get(10) == "w-0"
    assert len(proxy.refused) - calls < MOST_CALLS_A_SECOND * (time.monotonic() - shut)
    proxy.open()
    until(lambda: farm.live == 1, "the pod counts again")
    farm.send("frame", "b", 1)
    assert worker.says("start b").split()[2] == "held"


@pytest.mark.long
def test_closed_it_waits_and_goes_on_by_itself(farm: Farm, proxy: Proxy) -> None:
    proxy.shut()
    worker = farm.worker("w-0", pool="prefork", FLEETGATE_URL=proxy.url, CLOSED="yes")
    until(lambda: "cannot join yet" in worker.errors, "it waits to join", 30)
    proxy.open()
    worker.says("ready")
    proxy.shut()
    results = [farm.send("frame", name, 0.1) for name in "abc"]
    shut, calls = time.monotonic(), len(proxy.refused)
    time.sleep(OUTAGE_S)
    assert len(proxy.refused) - calls < MOST_CALLS_A_SECOND * (time.monotonic() - shut)
    assert (farm.queued, farm.unacked) == (3, 0)
    proxy.open()
    assert [one.get(30) for one in results] == ["w-0"] * 3
    assert {line.split()[4] for line in worker.lines if line.startswith("start")} == {"held"}
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0


def test_a_task_runs_once_though_the_broker_was_gone_meanwhile(farm: Farm) -> None:
    first = farm.worker("w-0", pool="prefork")
    result = farm.send("until_told", "a")
    first.says("start a")
    second = farm.worker("w-1", pool="prefork")
    second.says("ready")
    farm.broker._end()
    time.sleep(TTL)
    farm.broker.start()
    # Celery connects again after 2 s, and the others look for what is overdue meanwhile.
    time.sleep(2 * TTL)
    farm.let_end("a")
    first.says("done a None")
    assert result.get() == "a"
    until(lambda: (farm.busy, farm.queued, farm.unacked) == (0, 0, 0), "nothing is left", 2 * TTL)
    assert farm.send("frame", "b").get(15) in ("w-0", "w-1")
    assert sum(line.startswith("start a") for line in first.lines + second.lines) == 1


def test_a_task_runs_once_though_its_workers_connections_were_cut(farm: Farm) -> None:
    workers = [farm.worker(name, pool="prefork") for name in ("w-0", "w-1")]
    for worker in workers:
        worker.says("ready")
    # Of class high, so that a second run would find a slot at once.
    result = farm.send("urgent", "a", 3 * TTL)
    until(lambda: farm.busy == 1, "it runs")
    for kind in ("normal", "pubsub"):
        farm.redis.client_kill_filter(_type=kind, skipme=True)
    until(lambda: "Connection to broker lost" in workers[0].errors + workers[1].errors, "Celery notices")
    result.get(30)
    until(lambda: (farm.busy, farm.queued, farm.unacked) == (0, 0, 0), "nothing is left", TTL)
    assert sum(line.startswith("start") for worker in workers for line in worker.lines) == 1


def test_a_task_runs_though_the_connection_was_cut_before_the_pool_had_it(farm: Farm) -> None:
    farm.worker("w-0", pool="prefork").says("ready")
    for at in range(6):
        result = farm.send("urgent", f"a{at}", 0.2)
        until(lambda: farm.unacked == 1, "its message is taken")
        # While its slot is asked for, while it is on its way to the pool, and after that.
        time.sleep(0.002 * at)
        for kind in ("normal", "pubsub"):
            farm.redis.client_kill_filter(_type=kind, skipme=True)
        result.get(20)
        until(lambda: (farm.busy, farm.queued, farm.unacked) == (0, 0, 0), "nothing is left", TTL)
