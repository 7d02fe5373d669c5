"""Dramatiq's own worker command behind the gate, ended and disturbed in every way; pods and leases live 3 s here."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Callable

import pytest
from support.broker import Broker
from support.dq import Studio, at, runs
from support.program import Program
from support.proxy import Proxy
from support.until import until

from fleetgate import Fleet

Start = Callable[..., Program]
TTL = 3.0
AWAY_S = 30.0


@pytest.fixture
def studio(broker: Broker, fleet: Fleet, program: Start) -> Iterator[Studio]:
    with closing(Studio(broker, fleet, program)) as made:
        yield made


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def line(pid: int) -> str:
    """The command of a process."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def test_sigterm_ends_the_claiming_and_lets_the_work_end(studio: Studio, fleet: Fleet) -> None:
    worker = studio.worker("w-0")
    first, _ = studio.send("render", "first", 1.5 * TTL), studio.send("render", "second", 0)
    worker.says("start first", 60)
    worker.signal(signal.SIGTERM)
    until(lambda: fleet.status()["draining"] == 1, "the pod counts as draining")
    assert fleet.status()["busy"] == 1
    assert worker.says("end first").endswith("None")
    assert worker.ends() == 0
    assert studio.result(first) == "first by w-0"
    assert (studio.waiting(), studio.unfinished()) == (1, 1)
    status = fleet.status()
    assert (status["busy"], status["live"], status["draining"]) == (0, 0, 0)


def test_a_worker_ended_by_a_second_signal_while_it_starts_leaves_the_fleet(
    studio: Studio, fleet: Fleet
) -> None:
    fleet.put_policy(ttl_ms=60_000, lease_ttl_ms=60_000)
    worker = studio.worker("w-0", "--worker-shutdown-timeout", "500")

    def pulses() -> list[int]:
        """Worker processes whose process beside has started: their pod has joined by then."""
        return [
            process
            for process in children(worker.pid)
            if any("_pulse" in line(pid) for pid in children(process))
        ]

    [process] = until(pulses, "it starts")
    for _ in range(2):
        os.kill(process, signal.SIGTERM)
        time.sleep(0.05)  # two at once are one
    assert worker.ends() == 1
    assert fleet.pods()["pods"] == []


@pytest.mark.parametrize(("signals", "code"), [(1, 0), (2, 1)], ids=["grace over", "second signal"])
def test_what_still_runs_is_handed_back_and_another_worker_starts_it_at_once(
    studio: Studio, fleet: Fleet, signals: int, code: int
) -> None:
    fleet.put_policy(ttl_ms=60_000, lease_ttl_ms=60_000)
    grace = ["--worker-shutdown-timeout", "500"] if signals == 1 else []
    first, second = studio.pair(*grace, HEARTBEAT_TIMEOUT="60000")
    message = studio.send("render", "t", 6)
    first, second = studio.busy_and_idle(first, second)
    for _ in range(signals):
        first.signal(signal.SIGTERM)
        time.sleep(1.5)  # Dramatiq begins to stop within a second
    told = first.says("told t")
    assert told.split()[1] == "left"
    assert at(second.says("start t", 5)) - at(told) < 3  # both ttl are 60 s here
    assert first.ends() == code
    assert studio.result(message) == f"t by {second.environment['POD_NAME']}"
    studio.all_done()


def test_a_killed_workers_slot_is_free_and_its_message_runs_again_within_a_ttl(
    studio: Studio, fleet: Fleet
) -> None:
    ttl = 6.0  # the broker takes a worker for dead after half of it
    fleet.put_policy(ttl_ms=6_000, lease_ttl_ms=6_000)
    with fleet.join("eu", "third", keeper="thread"):  # so that two may run at once
        first, second = studio.pair(pods=3)
        message = studio.send("render", "t", ttl)
        first, second = studio.busy_and_idle(first, second)
        os.kill(runs(first)[0].pid, signal.SIGKILL)
        killed = time.monotonic()
        assert at(second.says("start t")) - killed < ttl
        until(lambda: fleet.status()["busy"] == 1, "the killed one's slot is free")
        assert time.monotonic() - killed < ttl + 1
        assert studio.result(message) == f"t by {second.environment['POD_NAME']}"
    assert first.ends() != 0
    studio.all_done()


def test_a_stopped_worker_is_told_once_and_its_outcome_is_dropped(studio: Studio, fleet: Fleet) -> None:
    first, second = studio.pair()
    message = studio.send("render", "t", 3 * TTL)
    first, second = studio.busy_and_idle(first, second)
    process = runs(first)[0].pid
    os.kill(process, signal.SIGSTOP)
    stopped = time.monotonic()
    second.says("start t")
    time.sleep(max(0.0, stopped + 2 * TTL - time.monotonic()))
    os.kill(process, signal.SIGCONT)
    first.says("end t")
    until(lambda: any(line.startswith("told t") for line in first.lines), "the actor is told")
    assert fleet.status()["busy"] == 1
    assert second.says("end t").endswith("None")
    assert studio.result(message) == f"t by {second.environment['POD_NAME']}"
    assert [line.split()[3] in ("silence", "told") for line in first.lines if line.startswith("told")] == [
        True
    ]
    studio.all_done()


def test_a_lost_slot_brings_the_message_back_and_uses_no_retry(studio: Studio, fleet: Fleet) -> None:
    worker = studio.worker("w-0")
    message = studio.send("render", "t", 3)
    worker.says("start t", 60)
    fleet.release(leases=[lease["id"] for pod in fleet.pods()["pods"] for lease in pod["leases"]])
    assert worker.says("told t").split()[1] == "told"
    assert worker.says("start t").split()[2:] == ["0", "held"]
    assert studio.result(message) == "t by w-0"
    assert sum(line.startswith("start") for line in worker.lines) == 2
    studio.all_done()


def test_a_task_that_holds_the_interpreter_lock_keeps_slot_and_message(studio: Studio, fleet: Fleet) -> None:
    first, second = studio.pair()
    message = studio.send("lock", "t", 2.5 * TTL)
    first, second = studio.busy_and_idle(first, second)
    assert first.says("end t").endswith("None")
    assert studio.result(message) == "t"
    assert runs(second) == []
    studio.all_done()


@pytest.mark.long
def test_out_of_reach_work_goes_on_when_open(studio: Studio, proxy: Proxy) -> None:
    worker = studio.worker("w-0", FLEETGATE_URL=proxy.url)
    studio.is_at_work(worker)
    proxy.shut()
    message = studio.send("render", "t", 1)
    assert worker.says("start t").endswith("degraded")
    assert studio.result(message) == "t by w-0"
    time.sleep(AWAY_S)
    assert len(proxy.refused) < 10 * AWAY_S  # the keeper's beats and the slot's tries together
    proxy.open()
    studio.is_live(1)
    studio.send("render", "u", 0)
    assert worker.says("start u").endswith("held")


@pytest.mark.long
def test_out_of_reach_work_waits_when_closed(studio: Studio, proxy: Proxy) -> None:
    worker = studio.worker("w-0", FLEETGATE_URL=proxy.url, RULE="closed")
    studio.is_at_work(worker)
    proxy.shut()
    message = studio.send("render", "t", 0)
    time.sleep(AWAY_S)
    assert not any(line.startswith("start") for line in worker.lines)
    until(lambda: studio.waiting() == 1, "the message is with the broker")
    assert len(proxy.refused) < 10 * AWAY_S
    proxy.open()
    assert worker.says("start t").split()[2:] == ["0", "held"]
    assert studio.result(message) == "t by w-0"
