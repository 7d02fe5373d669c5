"""Ten Dramatiq workers over three clusters, some killed, and a fleet that shrinks; pods and leases live 6 s here."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Callable

import pytest
from support.broker import Broker
from support.dq import Studio, running, runs
from support.program import Program
from support.until import until

from fleetgate import Fleet

Start = Callable[..., Program]
TTL = 6.0


@pytest.fixture
def studio(broker: Broker, fleet: Fleet, program: Start) -> Iterator[Studio]:
    with closing(Studio(broker, fleet, program)) as made:
        yield made


def test_eight_of_ten_run_at_once_and_a_killed_ones_message_runs_again_and_a_smaller_fleet_starts_fewer(
    studio: Studio, fleet: Fleet
) -> None:
    fleet.put_policy(ttl_ms=6_000, lease_ttl_ms=6_000)
    clusters = ("aws", "gcp", "onprem")
    workers = [studio.worker(f"w-{number // 3}", cluster=clusters[number % 3]) for number in range(10)]
    studio.is_live(10, 120)
    first = [studio.send("render", f"t{number}", 12) for number in range(8)]
    until(lambda: sum(len(runs(worker)) for worker in workers) == 8, "8 run")
    second = [studio.send("render", f"u{number}", 3) for number in range(8)]
    busy = [worker for worker in workers if runs(worker)]
    idle = [worker for worker in workers if not runs(worker)]
    assert (len(busy), fleet.status()["busy"]) == (8, 8)

    killed = time.monotonic()
    for worker in busy[:2]:
        os.kill(runs(worker)[0].pid, signal.SIGKILL)
    # Of 8 live ones 6 may run, and 6 do: the two messages wait with the others.
    until(lambda: fleet.status()["busy"] == 6 and studio.waiting() == 10, "slots and messages are back")
    assert time.monotonic() - killed < TTL + 1

    for worker in [*idle, busy[2]]:
        worker.signal(signal.SIGTERM)
    studio.is_live(5)
    shrunk = time.monotonic()
    assert len([studio.result(message, 60) for message in [*first, *second]]) == 16
    studio.all_done()
    done = [
        run for worker in workers for run in runs(worker, killed if worker in busy[:2] else time.monotonic())
    ]
    assert sorted(run.name for run in done) == sorted(
        [f"t{number}" for number in range(8)] + [f"u{number}" for number in range(8)]
        + [runs(worker)[0].name for worker in busy[:2]]
    )  # fmt: skip
    assert max(running(done, run.began) for run in done) == 8
    assert max(running(done, run.began) for run in done if run.began > shrunk) == 4
    assert [worker.ends() for worker in [*idle, busy[2]]] == [0, 0, 0]
