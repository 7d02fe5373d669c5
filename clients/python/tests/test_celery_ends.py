"""Every way a marked task can end frees its slot, and its message with it; pods and leases outlive each test."""

from __future__ import annotations

import os
import signal
import time

import pytest
from celery.exceptions import TaskRevokedError, TimeLimitExceeded
from support.farm import Farm
from support.until import until

# Nothing here ends by its ttl, which is far longer.
SOON = 1.0


def settled(farm: Farm) -> bool:
    return (farm.busy, farm.queued, farm.unacked) == (0, 0, 0)


def test_a_failed_task(farm: Farm) -> None:
    worker = farm.worker("w-0")
    result = farm.send("broken", "a")
    worker.says("start a")
    with pytest.raises(RuntimeError, match="broken"):
        result.get(10)
    until(lambda: settled(farm), "the slot and the message are gone", SOON)


def test_a_task_that_ends_its_thread(farm: Farm) -> None:
    worker = farm.worker("w-0", pool="threads")
    result = farm.send("quits", "a")
    worker.says("start a")
    with pytest.raises(RuntimeError, match="ended its thread"):
        result.get(10)
    until(lambda: settled(farm), "the slot and the message are gone", SOON)
    assert farm.send("frame", "b").get(10) == "w-0"


def test_a_retried_task_holds_no_slot_until_its_time_has_come(farm: Farm) -> None:
    worker = farm.worker("w-0", pool="threads")
    result = farm.send("again", "a")
    assert worker.says("start a").split()[0] == "0"
    until(lambda: farm.busy == 0, "the slot is free", SOON)
    assert worker.says("start a").split()[0] == "1"
    assert worker.says("headers") == "None"
    result.get(10)
    until(lambda: settled(farm), "the slot and the message are gone", SOON)


def test_a_task_with_an_eta_waits_for_a_slot_when_its_time_has_come(farm: Farm) -> None:
    worker = farm.worker("w-0")
    worker.says("ready")
    with farm.fleet.join("eu", "other", keeper="thread") as other, other.slot():
        result = farm.send("frame", "a", countdown=0.5)
        time.sleep(0.4)
        assert farm.busy == 1
        until(lambda: farm.queued == 1, "it is back in its queue")
        time.sleep(2)
        assert (farm.queued, farm.unacked) == (1, 0)
    assert result.get(10) == "w-0"
    until(lambda: settled(farm), "the slot and the message are gone", SOON)


def test_a_hard_time_limit(farm: Farm) -> None:
    worker = farm.worker("w-0", pool="prefork")
    result = farm.send("frame", "a", 60, time_limit=1)
    worker.says("start a")
    with pytest.raises(TimeLimitExceeded):
        result.get(10)
    until(lambda: settled(farm), "the slot and the message are gone", SOON)
    assert farm.send("frame", "b").get(10) == "w-0"


def test_a_revoked_task_is_killed(farm: Farm) -> None:
    worker = farm.worker("w-0", pool="prefork")
    result = farm.send("frame", "a", 60)
    worker.says("start a")
    farm.app.control.revoke(result.id, terminate=True)
    with pytest.raises(TaskRevokedError):
        result.get(10)
    until(lambda: settled(farm), "the slot and the message are gone", SOON)
    assert farm.send("frame", "b").get(10) == "w-0"


def test_a_task_that_was_revoked_before_it_could_start_takes_no_slot(farm: Farm) -> None:
    worker = farm.worker("w-0")
    worker.says("ready")
    with farm.fleet.join("eu", "other", keeper="thread") as other, other.slot():
        result = farm.send("frame", "a", 60)
        time.sleep(0.5)
        farm.app.control.revoke(result.id)
        time.sleep(0.5)
    with pytest.raises(TaskRevokedError):
        result.get(10)
    until(lambda: settled(farm), "the slot and the message are gone", 8)
    assert not any(line.startswith("start") for line in worker.lines)


def test_a_pool_process_killed_frees_the_slot_and_the_task_starts_anew_at_once(farm: Farm) -> None:
    worker = farm.worker("w-0", pool="prefork")
    result = farm.send("frame", "a", 1)
    os.kill(int(worker.says("start a").split()[1]), signal.SIGKILL)
    worker.says("start a 0", 10)
    assert result.get(10) == "w-0"
    until(lambda: settled(farm), "the slot and the message are gone", 2)
