"""Celery workers that are told to end, with time enough and with too little."""

from __future__ import annotations

import json
import signal
import time

import pytest
from support.farm import Farm
from support.until import until

from fleetgate.celery.intake import Intake

TTL = 3.0
POOLS = pytest.mark.parametrize("pool", ["prefork", "threads", "solo"])


@POOLS
def test_sigterm_lets_the_task_end_and_takes_no_other(farm: Farm, pool: str) -> None:
    worker = farm.worker("w-0", pool=pool)
    first, second = farm.send("frame", "a", 2 * TTL), farm.send("frame", "b")
    worker.says("start a")
    worker.signal(signal.SIGTERM)
    until(lambda: farm.fleet.status()["draining"] == 1, "the pod counts as draining", TTL)
    time.sleep(TTL)
    assert (farm.busy, farm.queued) == (1, 1)
    worker.says("done a None")
    assert worker.ends() == 0
    assert first.get(5) == "w-0"
    assert second.state == "PENDING"
    assert (farm.busy, farm.live, farm.queued, farm.unacked) == (0, 0, 1, 0)
    assert not any(line.startswith("told") for line in worker.lines)


def test_a_worker_that_ends_before_it_is_connected_has_no_queue_to_stop() -> None:
    Intake(lambda: 1, lambda: True).settle()


@POOLS
def test_when_it_is_cut_off_another_worker_starts_the_task_at_once(farm: Farm, pool: str) -> None:
    farm.fleet.put_policy(ttl_ms=30_000, lease_ttl_ms=30_000)
    first = farm.worker("w-0", pool=pool)
    farm.send("frame", "a", 60)
    first.says("start a")
    second = farm.worker("w-1", pool=pool)
    second.says("ready")
    first.signal(signal.SIGTERM)
    until(lambda: farm.fleet.status()["draining"] == 1, "the pod counts as draining", TTL)
    first.signal(signal.SIGQUIT)
    cut = time.monotonic()
    second.says("start a 0", 5)
    assert time.monotonic() - cut < 2  # one, and one for a busy machine
    first.ends()
    assert (farm.busy, farm.live, farm.unacked) == (1, 1, 1)


def test_the_soft_shutdown_is_a_grace(farm: Farm) -> None:
    farm.fleet.put_policy(ttl_ms=30_000, lease_ttl_ms=30_000)
    soft = {"REMAP_SIGTERM": "SIGQUIT", "SETTINGS": json.dumps({"worker_soft_shutdown_timeout": 1})}
    first = farm.worker("w-0", pool="prefork", **soft)
    farm.send("frame", "a", 60)
    first.says("start a")
    second = farm.worker("w-1", pool="prefork")
    second.says("ready")
    first.signal(signal.SIGTERM)
    told = time.monotonic()
    second.says("start a 0", 10)
    assert 1 <= time.monotonic() - told < 3
    first.ends()
    assert (farm.busy, farm.live) == (1, 1)
