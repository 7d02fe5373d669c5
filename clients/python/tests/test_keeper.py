"""The keeper inside one process, against the real coordinator."""

from __future__ import annotations

import os
import threading
import time

import pytest
from support.proxy import Proxy
from support.until import took, until

from fleetgate import (
    Client,
    Fleet,
    Lease,
    LeaseLostError,
    NotGrantedError,
    Pod,
    PodClosedError,
    UnavailableError,
)

TTL = 3.0


def join(fleet: Fleet, name: str = "w-0") -> Pod:
    return fleet.join("eu", name, keeper="thread")


def through(proxy: Proxy, fleet: Fleet, rule: str) -> Pod:
    far = Client(proxy.url, timeout=1.0, on_unavailable=rule).fleet(fleet.name)
    return far.join("eu", "w-0", keeper="thread", unavailable_after=1.5)


def test_a_slot_is_given_back_when_the_block_is_left(fleet: Fleet) -> None:
    with join(fleet) as pod:
        with pod.slot(cls="high", wait=5) as lease:
            assert (lease.cls, lease.ttl, lease.degraded, pod.held) == ("high", TTL, False, 1)
            assert fleet.status()["busy"] == 1
        assert (fleet.status()["busy"], pod.held) == (0, 0)
        assert lease.release() == "released"
        assert not lease.lost.is_set()
    assert fleet.status()["live"] == 0


def test_a_full_fleet_is_an_error_once_the_wait_is_over(fleet: Fleet) -> None:
    with join(fleet) as pod, pod.slot():
        with pytest.raises(NotGrantedError) as refused:
            pod.slot()
        assert refused.value.reason == "at_capacity"


def test_a_wait_ends_when_the_slot_is_free(fleet: Fleet) -> None:
    with join(fleet) as pod:
        first = pod.slot()
        threading.Timer(0.3, first.release).start()
        with pod.slot(wait=10) as lease:
            assert lease.id != first.id


def test_a_held_slot_is_renewed_and_a_loss_is_told_once(fleet: Fleet) -> None:
    told: list[Lease] = []
    with join(fleet) as pod:
        lease = pod.slot(on_lost=told.append)
        time.sleep(1.2 * TTL)
        lease.check()
        fleet.release(leases=[lease.id or ""])
        assert lease.lost.wait(TTL)
        until(lambda: told == [lease], "the callback ran")
        with pytest.raises(LeaseLostError, match="told"):
            lease.check()
        assert lease.release() == "lost"
        assert told == [lease]


def test_releasing_under_a_beat_is_no_loss(fleet: Fleet) -> None:
    told: list[Lease] = []
    with join(fleet) as pod:
        for _ in range(30):
            lease = pod.slot(wait=5, on_lost=told.append)
            pod._core.beater.set_state("ready")  # a beat is on its way now
            assert lease.release() == "released"
            assert not lease.lost.is_set()
    assert told == []


def test_a_wait_that_is_given_up_leaves_nothing_behind(fleet: Fleet) -> None:
    with join(fleet, "w-0") as first, join(fleet, "w-1") as second:
        held = first.slot()
        threading.Timer(0.3, lambda: second.drain(wait=0)).start()

        def wait() -> None:
            with pytest.raises(PodClosedError):
                second.slot(wait=10)

        assert took(wait) < 2
        held.release()
        second.leave()
        until(lambda: fleet.status()["busy"] == 0, "nobody holds a slot", TTL)
        with first.slot(wait=TTL):
            assert fleet.status()["busy"] == 1


def test_a_newer_process_of_the_same_name_takes_over(fleet: Fleet) -> None:
    replaced = threading.Event()
    old = fleet.join("eu", "w-0", instance="1", keeper="thread", on_replaced=lambda _: replaced.set())
    lease = old.slot()
    with fleet.join("eu", "w-0", instance="2", keeper="thread"):
        assert replaced.wait(5)
        assert (old.state, lease.reason) == ("replaced", "replaced")
        with pytest.raises(PodClosedError, match="replaced"):
            old.slot()
        assert old.leave() == "replaced"
        assert fleet.status()["live"] == 1


def test_an_outage_shorter_than_the_ttl_loses_nothing(fleet: Fleet, proxy: Proxy) -> None:
    with through(proxy, fleet, "open") as pod, pod.slot(ttl=2 * TTL) as lease:
        time.sleep(0.5)
        proxy.shut()
        time.sleep(0.5 * TTL)
        proxy.open()
        time.sleep(2 * TTL)
        lease.check()
        assert fleet.status()["busy"] == 1


def test_silence_past_the_ttl_is_a_loss_open_goes_on_degraded_and_all_recovers(
    fleet: Fleet, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    with through(proxy, fleet, "open") as pod:
        lease = pod.slot()
        proxy.shut()
        shut_at = time.monotonic()
        assert lease.lost.wait(TTL + 1)
        assert lease.reason == "silence"
        assert took(lambda: pod.slot(wait=10)) < 5  # the second is granted, without a slot
        with pod.slot() as degraded:
            assert (degraded.degraded, degraded.id) == (True, None)
            degraded.check()
        away = time.monotonic() - shut_at
        # At most two beats a pace (TTL / 3), and the tries of three requests for a slot, each backed off.
        assert len(proxy.refused) < 2 * away / (TTL / 3) * 1.5 + 15
        proxy.open()
        until(lambda: fleet.status()["live"] == 1, "the pod is counted again")
        with pod.slot(wait=5) as lease:
            assert not lease.degraded
    told = [record.message for record in caplog.records if "the coordinator is" in record.message]
    assert told == [
        f"the coordinator is out of reach: running without a slot ({proxy.url})",
        f"the coordinator is back: running with slots again ({proxy.url})",
    ]


def test_closed_waits_and_then_says_so(fleet: Fleet, proxy: Proxy) -> None:
    with through(proxy, fleet, "closed") as pod:
        proxy.shut()
        with pytest.raises(UnavailableError):
            pod.slot(wait=1)
        threading.Timer(0.5, proxy.open).start()
        with pod.slot(wait=20) as lease:
            assert not lease.degraded


def test_a_process_that_joins_lazily_has_the_names_of_its_environment(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEETGATE_CLUSTER", "gcp")
    monkeypatch.setenv("POD_NAME", "worker-7")
    with fleet.slot(wait=5):
        pods = fleet.pods()["pods"]
    assert [(pod["cluster"], pod["pod"]) for pod in pods] == [("gcp", "worker-7")]
    fleet.own_pod().leave()


def test_wrong_arguments_are_refused_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for url, key in [("ftp://x", "k"), ("http://u:p@x", "k"), ("http://x", "a b"), ("http://x\n", "k")]:
        with pytest.raises(ValueError, match=r"url|key") as wrong:
            Client(url, key)
        assert "a b" not in str(wrong.value)
    monkeypatch.delenv("FLEETGATE_KEY")
    with pytest.raises(ValueError, match="FLEETGATE_KEY"):
        Client(os.environ["FLEETGATE_URL"])
