"""RQ workers whose coordinator or broker is out of reach for a while."""

from __future__ import annotations

import signal
import time
from typing import Callable

import pytest
from support.broker import Broker
from support.program import Program
from support.proxy import Proxy
from support.rq_workers import TTL, RqWorkers, ended
from support.until import until

from fleetgate import Fleet

Start = Callable[..., Program]
AWAY_S = 30.0


def _most_in_a_second(times: list[float]) -> int:
    return max(sum(1 for other in times if at <= other < at + 1) for at in times)


@pytest.mark.long
def test_open_goes_on_without_the_coordinator_and_recovers(
    broker: Broker, fleet: Fleet, program: Start, proxy: Proxy
) -> None:
    workers = RqWorkers(broker, fleet, program)
    worker = workers.start("w-0", FLEETGATE_URL=proxy.url)
    workers.live(1)
    proxy.shut()
    shut_at = time.monotonic()
    assert ended(workers.enqueue("work", 1, job_id="during")) == "w-0"
    time.sleep(max(0.0, shut_at + AWAY_S - time.monotonic()))
    assert _most_in_a_second(proxy.refused) <= 12
    proxy.open()
    workers.live(1)
    assert ended(workers.enqueue("work", 0, job_id="after")) == "w-0"
    assert workers.notes() == ["start-degraded during", "end during", "start after", "end after"]
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0


@pytest.mark.long
def test_closed_leaves_the_job_in_its_queue_until_the_coordinator_is_back(
    broker: Broker, fleet: Fleet, program: Start, proxy: Proxy
) -> None:
    workers = RqWorkers(broker, fleet, program)
    worker = workers.start("w-0", FLEETGATE_URL=proxy.url, FLEETGATE_ON_UNAVAILABLE="closed")
    workers.live(1)
    proxy.shut()
    job = workers.enqueue("work", 0, job_id="t")
    time.sleep(AWAY_S)
    assert job.get_status() == "queued"
    assert workers.queue.get_job_ids() == ["t"]
    assert _most_in_a_second(proxy.refused) <= 12
    proxy.open()
    assert ended(job) == "w-0"
    assert workers.notes() == ["start t", "end t"]
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0


def test_closed_waits_for_the_coordinator_to_join(
    broker: Broker, fleet: Fleet, program: Start, proxy: Proxy
) -> None:
    workers = RqWorkers(broker, fleet, program)
    proxy.shut()
    worker = workers.start("w-0", FLEETGATE_URL=proxy.url, FLEETGATE_ON_UNAVAILABLE="closed")
    until(lambda: proxy.refused, "it tries to join", 40)
    proxy.open()
    workers.live(1)
    assert ended(workers.enqueue("work", 0, job_id="t")) == "w-0"
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0


def test_a_broker_that_was_away_brings_no_job_twice(broker: Broker, fleet: Fleet, program: Start) -> None:
    workers = RqWorkers(broker, fleet, program)
    for number in range(2):
        workers.start(f"w-{number}")
    workers.live(2)
    job = workers.enqueue("work", 3 * TTL, job_id="t")
    workers.noted("start t")
    broker.stop_for(1.5 * TTL)
    assert ended(job, 30) in ("w-0", "w-1")
    assert workers.notes() == ["start t", "end t"]
