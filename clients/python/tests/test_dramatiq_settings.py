"""What the gate says of Dramatiq's settings when a worker starts, and where it stays out of the way."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import dramatiq
import pytest
from dramatiq.brokers.redis import RedisBroker
from dramatiq.brokers.stub import StubBroker
from support.broker import Broker
from support.program import SOURCE

from fleetgate import Fleet
from fleetgate.dramatiq import FleetgateMiddleware, SlotRateLimiter, StartError, current_lease
from fleetgate.dramatiq.checks import wrong_settings

GOOD = {"heartbeat_timeout": 15_000, "maintenance_chance": 1_000_000}
ACTOR = {"time_limit": 60_000, "max_retries": 3}


def told(
    broker: dict[str, int], actor: dict[str, Any], ttl_ms: int = 30_000, arguments: tuple[str, ...] = ()
) -> list[str]:
    made = RedisBroker(url="redis://127.0.0.1:1/0", **broker)
    made.add_middleware(FleetgateMiddleware("render"))
    dramatiq.actor(lambda: None, actor_name="render", broker=made, fleetgate="normal", **actor)
    dramatiq.actor(lambda: None, actor_name="light", broker=made)
    return list(wrong_settings(made, ttl_ms, None, arguments))


def test_good_settings_are_told_nothing_of() -> None:
    assert told(GOOD, ACTOR) == []


@pytest.mark.parametrize(
    ("broker", "actor", "words"),
    [
        (
            {**GOOD, "heartbeat_timeout": 60_000},
            ACTOR,
            ["free after 30 s", "only after 60 s", "heartbeat_timeout=15000"],
        ),
        (
            {**GOOD, "maintenance_chance": 1_000},
            ACTOR,
            ["one command in 1,000", "maintenance_chance=1000000"],
        ),
        (GOOD, {"max_retries": 3}, ["render has no time_limit", "after 600 s"]),
        (GOOD, {**ACTOR, "time_limit": float("inf")}, ["render has no end", "set time_limit"]),
        (GOOD, {"time_limit": 60_000}, ["run 21 times", "up to 1260 s", "max_retries=3"]),
        (
            GOOD,
            {**ACTOR, "time_limit": 7_200_000},
            ["7200 s", "600 s after SIGTERM", "--worker-shutdown-timeout 7200000"],
        ),
    ],
    ids=["heartbeat", "maintenance", "time limit", "no end", "retries", "grace"],
)
def test_a_wrong_setting_is_told_in_one_line_with_what_to_set(
    broker: dict[str, int], actor: dict[str, Any], words: list[str]
) -> None:
    lines = told(broker, actor)
    assert len(lines) == 1
    assert "\n" not in lines[0]
    assert [word for word in words if word not in lines[0]] == []


def test_a_grace_that_was_given_is_not_asked_for() -> None:
    actor = {**ACTOR, "time_limit": 7_200_000}
    assert told(GOOD, actor, arguments=("dramatiq", "--worker-shutdown-timeout=7200000")) == []


def test_an_actor_runs_without_a_gate_on_the_stub_broker_and_when_called() -> None:
    broker = StubBroker()
    broker.add_middleware(FleetgateMiddleware("render"))
    seen: list[bool] = []

    @dramatiq.actor(broker=broker, fleetgate="normal", max_retries=0)
    def render() -> None:
        current_lease().check()
        seen.append(current_lease().degraded)

    worker = dramatiq.Worker(broker, worker_timeout=50, worker_threads=1)
    worker.start()
    render.send()
    broker.join("default")
    worker.stop()
    render()
    assert seen == [True, True]


def test_a_worker_that_cannot_join_does_not_start(broker: Broker) -> None:
    made = RedisBroker(url=broker.url)
    made.add_middleware(FleetgateMiddleware("no such name!"))
    worker = dramatiq.Worker(made, worker_threads=1)
    with pytest.raises(StartError, match="cannot join the fleet"):
        worker.start()


def test_the_framework_is_asked_for_in_one_line_and_never_loaded_by_the_client() -> None:
    code = "import sys, fleetgate; assert 'dramatiq' not in sys.modules; import fleetgate.dramatiq"
    # -S: without the virtual environment's packages.
    run = subprocess.run(
        [sys.executable, "-S", "-c", code], env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True
    )
    assert run.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: fleetgate.dramatiq needs dramatiq: pip install 'fleetgate[dramatiq]'"
    )


def test_a_limiter_holds_a_slot_of_the_fleets_live_capacity(fleet: Fleet) -> None:
    limiter = SlotRateLimiter(fleet)  # one live pod: one slot
    with limiter.acquire() as lease:
        assert lease is not None
        assert fleet.status()["busy"] == 1
        with pytest.raises(dramatiq.RateLimitExceeded, match="at_capacity"), limiter.acquire():
            raise AssertionError
        with limiter.acquire(raise_on_failure=False) as acquired:
            assert not acquired
    assert fleet.status()["busy"] == 0
    other = fleet.join("eu", "other", keeper="thread", slots=2)  # floor(0.8 · 3) is 2
    with other, limiter.acquire(), limiter.acquire():
        assert fleet.status()["busy"] == 2
    fleet.own_pod().leave()


def test_a_limiter_lets_what_the_block_raises_through_and_frees_its_slot(fleet: Fleet) -> None:
    limiter = SlotRateLimiter(fleet, cls="high")
    with pytest.raises(KeyError), limiter.acquire():
        raise KeyError
    assert fleet.status()["busy"] == 0
    fleet.own_pod().leave()
