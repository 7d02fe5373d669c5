"""RQ workers that hear signals at unlucky moments: while they start, write to their log, or leave."""

from __future__ import annotations

import signal
import time
from typing import Callable

import pytest
from support.broker import Broker
from support.program import Program
from support.proxy import Proxy
from support.rq_workers import RqWorkers, ended
from support.ttl import LONG, UNHURRIED

from fleetgate import Fleet

Start = Callable[..., Program]


@pytest.fixture
def workers(broker: Broker, fleet: Fleet, program: Start) -> RqWorkers:
    return RqWorkers(broker, fleet, program)


def test_a_worker_that_hears_several_signals_while_it_starts_leaves_the_fleet(workers: RqWorkers) -> None:
    workers.set_ttl(30)
    worker = workers.start("w-0", worker="rq_jobs.SlowStarter")
    worker.says("starting")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
        worker.signal(number)
        time.sleep(0.01)
    assert worker.ends() == 0
    assert workers.fleet.status()["live"] == 0
    assert worker.errors == ""


def test_the_name_of_a_worker_ended_while_it_starts_is_free_again(workers: RqWorkers) -> None:
    worker = workers.start("w-0", worker="rq_jobs.SlowWriter")
    worker.says("starting")
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0
    workers.start("w-0")
    assert ended(workers.enqueue("work", 0, job_id="t")) == "w-0"


def test_an_idle_worker_ends_though_what_rqs_handler_raises_is_lost(workers: RqWorkers) -> None:
    worker = workers.start("w-0", worker="rq_jobs.HardOfHearing")
    workers.live(1)
    ended(workers.enqueue("work", 0, job_id="t"))
    time.sleep(0.5)
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0
    assert workers.fleet.status()["live"] == 0


def test_a_late_signal_does_not_keep_a_worker_in_rqs_list(workers: RqWorkers, proxy: Proxy) -> None:
    workers.set_ttl(LONG, UNHURRIED)
    worker = workers.start("w-0", FLEETGATE_URL=proxy.url)
    worker.says("*** Listening")
    time.sleep(1)
    proxy.hold()
    worker.signal(signal.SIGTERM)
    time.sleep(1.5)  # it leaves, and RQ takes a second signal for one by now
    worker.signal(signal.SIGTERM)
    time.sleep(0.2)
    proxy.go_on()
    assert worker.ends() == 0
    assert workers.redis.smembers("rq:workers") == set()
    assert workers.fleet.pods()["pods"] == []
