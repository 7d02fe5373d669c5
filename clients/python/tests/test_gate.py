"""Slots for a consumer that must not wait, against the real coordinator."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from support.proxy import Proxy
from support.until import until

from fleetgate import Client, Fleet, Pod
from fleetgate.gate import Gate


@pytest.fixture
def pod(fleet: Fleet) -> Iterator[Pod]:
    with fleet.join("eu", "w-0", keeper="thread") as made:
        yield made


def test_a_free_fleet_gives_a_slot_at_once_and_waits_for_nothing(fleet: Fleet, pod: Pod) -> None:
    gate = Gate(pod)
    lease = gate.take()
    assert lease is not None
    assert (gate.waiting, fleet.status()["busy"]) == (False, 1)


def test_a_full_fleet_says_no_at_once_and_tells_when_a_slot_is_held(fleet: Fleet, pod: Pod) -> None:
    told = threading.Event()
    gate = Gate(pod, on_free=told.set)
    first = gate.take()
    assert first is not None
    assert [gate.take() for _ in range(10)] == [None] * 10
    assert gate.waiting
    first.release()
    assert told.wait(10)
    assert fleet.status()["busy"] == 1
    second = gate.take()
    assert second is not None
    assert (second.id != first.id, gate.waiting) == (True, False)
    second.check()


def test_a_spare_slot_that_nobody_takes_is_given_back(fleet: Fleet, pod: Pod) -> None:
    told = threading.Event()
    gate = Gate(pod, on_free=told.set, spare=0.2)
    first = gate.take()
    assert first is not None and gate.take() is None
    first.release()
    assert told.wait(10)
    until(lambda: fleet.status()["busy"] == 0, "the spare slot is given back")
    assert gate.take() is not None


def test_a_spare_slot_that_was_lost_is_not_handed_out(fleet: Fleet, pod: Pod) -> None:
    told = threading.Event()
    gate = Gate(pod, on_free=told.set, spare=60)
    first = gate.take()
    assert first is not None and gate.take() is None
    first.release()
    assert told.wait(10)
    spare = gate._spare
    assert spare is not None and spare.id is not None
    fleet.release(leases=[spare.id])
    assert spare.lost.wait(10)
    lease = gate.take()
    assert lease is not None and lease.id != spare.id
    lease.check()


def test_closing_ends_the_wait_and_gives_a_spare_back(fleet: Fleet, pod: Pod) -> None:
    waits, told = Gate(pod), threading.Event()
    first = waits.take()
    assert first is not None and waits.take() is None
    waits.close()
    until(lambda: not waits.waiting, "the wait ends")
    holds = Gate(pod, on_free=told.set, spare=60)
    assert holds.take() is None
    first.release()
    assert told.wait(10)
    holds.close()
    assert fleet.status()["busy"] == 0
    assert (waits.take(), holds.take()) == (None, None)


def test_a_pod_that_drains_is_given_nothing(fleet: Fleet, pod: Pod) -> None:
    gate = Gate(pod)
    pod.drain(wait=0)
    assert gate.take() is None
    assert not gate.waiting


@pytest.mark.parametrize("rule", ["open", "closed"])
def test_out_of_reach_it_goes_on_without_a_slot_or_waits(fleet: Fleet, proxy: Proxy, rule: str) -> None:
    told = threading.Event()
    far = Client(proxy.url, timeout=1.0, on_unavailable=rule).fleet(fleet.name)
    with far.join("eu", "w-0", keeper="thread", unavailable_after=0.3) as pod:
        gate = Gate(pod, on_free=told.set)
        proxy.shut()
        lease = gate.take()
        if rule == "open":
            assert lease is not None and lease.degraded
        else:
            assert lease is None and not told.wait(0.5)
        proxy.open()
        if rule == "closed":
            assert told.wait(20)
            lease = gate.take()
            assert lease is not None and not lease.degraded
