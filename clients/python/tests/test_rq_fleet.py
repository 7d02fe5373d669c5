"""Ten RQ workers over three clusters, as real processes over a real Redis."""

from __future__ import annotations

import signal
import time
from typing import Callable

from support.broker import Broker
from support.program import Program
from support.rq_workers import RqWorkers, ended
from support.until import until

from fleetgate import Fleet

Start = Callable[..., Program]
TTL = 6.0
WATCHED_S = 2.0
NAMES = [f"w-{n}" for n in range(10)]
CLUSTERS = ("aws", "gcp", "onprem")


def test_eight_of_ten_run_two_are_killed_and_five_are_left(
    broker: Broker, fleet: Fleet, program: Start
) -> None:
    workers = RqWorkers(broker, fleet, program)
    workers.set_ttl(TTL)
    alive = {name: _start(workers, name, CLUSTERS[n % len(CLUSTERS)]) for n, name in enumerate(NAMES)}
    workers.live(10)
    jobs = [workers.enqueue("until_told", job_id=f"j-{n}") for n in range(14)]

    until(lambda: workers.busy() == 8 and len(workers.notes("start")) == 8, "8 run")
    _never_more(workers, busy=8, started=8)
    until(lambda: len(workers.queue) == 6, "nothing is hoarded by those that wait")
    assert set(fleet.status()["clusters"]) == set(CLUSTERS)

    first, second, *others = [job for job in jobs if job.get_status() == "started"]
    for job in (first, second):
        job.refresh()
        alive.pop(job.worker_name or "").signal(signal.SIGKILL)
    until(lambda: set(workers.queue.get_job_ids(0, 2)) == {first.id, second.id}, "both wait again", 1.5 * TTL)
    until(lambda: workers.busy() == 6, "their slots are free", 1.5 * TTL)

    for job in others:
        job.refresh()
    idle = [name for name in alive if name not in {job.worker_name for job in others}]
    for name in [*idle, *(job.worker_name or "" for job in others)][:3]:
        alive.pop(name).signal(signal.SIGTERM)
    workers.live(5)
    workers.tell(*others)
    until(lambda: len(workers.notes("end")) == 6, "the six have ended")
    until(lambda: len(workers.notes("start")) == 8 + 4, "4 new ones run")
    _never_more(workers, busy=4, started=8 + 4)

    workers.tell(*jobs)
    for job in jobs:
        ended(job)
        assert workers.notes().count(f"start {job.id}") == (2 if job in (first, second) else 1)
        assert workers.notes().count(f"end {job.id}") == 1
    until(lambda: workers.busy() == 0, "idle workers hold no slot")


def _start(workers: RqWorkers, name: str, cluster: str) -> Program:
    # Closed: a slow machine must not look like a coordinator out of reach, which lets a ninth one go on.
    return workers.start(name, FLEETGATE_CLUSTER=cluster, FLEETGATE_ON_UNAVAILABLE="closed")


def _never_more(workers: RqWorkers, busy: int, started: int) -> None:
    ends = time.monotonic() + WATCHED_S
    while time.monotonic() < ends:
        assert workers.busy() <= busy
        assert len(workers.notes("start")) == started
        time.sleep(0.1)
