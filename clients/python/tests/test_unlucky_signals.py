"""Signals that come while a pod joins or leaves; pods and leases outlive each test, so that nothing heals by itself."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Callable

import pytest
from support.program import Program
from support.proxy import Proxy
from support.ttl import UNHURRIED, set_ttl
from support.until import until

from fleetgate import Fleet, Pod, Queue
from fleetgate.keeper.reach import Reach

Start = Callable[..., Program]
TTL = 60.0
WORK = ("-m", "fleetgate", "work", "--pod", "w-0", "--fleet")


def names(fleet: Fleet) -> list[str]:
    """Of all that count, live or draining."""
    return [pod["pod"] for pod in fleet.pods()["pods"]]


@pytest.mark.parametrize(
    ("mode", "number", "code"),
    [
        ("slot", signal.SIGINT, 130),
        ("coroutine", signal.SIGINT, 130),
        ("handles", signal.SIGTERM, 0),
        ("works", signal.SIGTERM, 0),
        ("fleetgate work", signal.SIGTERM, 0),
    ],
)
def test_a_signal_while_the_first_beat_is_on_its_way_leaves_no_pod(
    program: Start, proxy: Proxy, queue: Queue, fleet: Fleet, mode: str, number: int, code: int
) -> None:
    proxy.late.append(0.7)
    command = (*WORK, fleet.name, "--queue", queue.name, "--", "cat")
    line = command if mode == "fleetgate work" else ("unlucky", mode, fleet.name)
    joining = program(*line, FLEETGATE_URL=proxy.url, POD_NAME="w-0")
    until(lambda: proxy.passing, "the first beat is on its way")
    joining.signal(number)
    assert joining.ends() == code
    time.sleep(1)
    assert names(fleet) == []
    assert joining.errors == ""


def test_a_second_ctrl_c_while_a_pod_leaves_at_exit_does_not_keep_it_in_the_count(
    program: Start, proxy: Proxy, fleet: Fleet
) -> None:
    set_ttl(fleet, TTL, UNHURRIED)
    ending = program("unlucky", "slot", fleet.name, FLEETGATE_URL=proxy.url)
    ending.says("held")
    proxy.hold()
    ending.signal(signal.SIGINT)
    time.sleep(0.5)
    ending.signal(signal.SIGINT)
    time.sleep(0.2)
    proxy.go_on()
    assert ending.ends() == 130
    assert (names(fleet), fleet.status()["busy"]) == ([], 0)
    assert ending.errors == ""


def test_a_second_sigterm_while_fleetgate_work_leaves_does_not_keep_its_pod_in_the_count(
    program: Start, proxy: Proxy, queue: Queue, fleet: Fleet
) -> None:
    set_ttl(fleet, TTL, UNHURRIED)
    line = (*WORK, fleet.name, "--queue", queue.name, "--", "cat")
    working = program(*line, FLEETGATE_URL=proxy.url)
    until(lambda: names(fleet), "it has joined")
    time.sleep(0.5)
    proxy.hold()
    for _ in range(2):
        working.signal(signal.SIGTERM)
        time.sleep(0.5)
    proxy.go_on()
    assert working.ends() == 0
    assert names(fleet) == []


def test_a_signal_to_all_the_processes_of_a_group_does_not_end_a_keeper_that_starts(
    program: Start, fleet: Fleet, tmp_path: Path
) -> None:
    joining = program("unlucky", "hangs_up", fleet.name, str(tmp_path / "python"))
    until(lambda: names(fleet), "the first beat has come, and the keeper starts")
    time.sleep(0.3)
    os.killpg(joining.pid, signal.SIGHUP)
    joining.says("joined")
    assert joining.ends() == 0
    assert joining.errors == ""


@pytest.fixture
def pod(fleet: Fleet) -> Pod:
    return fleet.join("eu", "w-0", keeper="thread")


def interrupted(*_: object, **__: object) -> None:
    """As the handler of Ctrl-C does wherever the main thread is."""
    raise KeyboardInterrupt


def test_ctrl_c_when_a_slot_was_just_granted_gives_it_back(
    fleet: Fleet, pod: Pod, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Reach, "granted", interrupted)
        pod.slot(wait=5)
    until(lambda: fleet.status()["busy"] == 0, "the slot is free")
    pod.leave()


def test_ctrl_c_while_a_slot_is_given_back_frees_it_all_the_same(
    fleet: Fleet, pod: Pod, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = pod.slot(wait=5)
    release = Fleet.release
    calls: list[Fleet] = []

    def torn(calling: Fleet, **given: object) -> object:
        calls.append(calling)
        return interrupted() if len(calls) == 1 else release(calling, **given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Fleet, "release", torn)
        with pytest.raises(KeyboardInterrupt):
            lease.release()
        until(lambda: fleet.status()["busy"] == 0, "the slot is free")
    assert lease.release() == "unconfirmed"
    assert pod.held == 0
    pod.leave()
