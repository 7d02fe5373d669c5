"""Dramatiq's own worker command behind the gate, ended and disturbed in every way; pods and leases live 2 s here."""

from __future__ import annotations

import signal
from typing import Callable

import pytest
from support.broker import Broker
from support.dq import Studio
from support.program import Program
from support.until import until

from fleetgate import Fleet

Start = Callable[..., Program]
TTL = 2.0


@pytest.fixture
def studio(broker: Broker, fleet: Fleet, program: Start) -> Studio:
    return Studio(broker, fleet, program)


def test_sigterm_ends_the_claiming_and_lets_the_work_end(studio: Studio, fleet: Fleet) -> None:
    worker = studio.worker("w-0")
    first, second = studio.send("render", "first", 1.5 * TTL), studio.send("render", "second", 0)
    worker.says("start first", 60)
    worker.signal(signal.SIGTERM)
    until(lambda: fleet.status()["draining"] == 1, "the pod counts as draining")
    assert fleet.status()["busy"] == 1
    assert worker.ends() == 0
    assert studio.result(first) == "first by w-0"
    assert [line for line in worker.lines if line.startswith("end first")][0].endswith("None")
    assert (studio.waiting(), studio.unfinished()) == (1, 1)
    status = fleet.status()
    assert (status["busy"], status["live"], status["draining"]) == (0, 0, 0)
    assert second.message_id
