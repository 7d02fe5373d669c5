"""The keeper against real processes, real signals and the real coordinator; pods and leases live 3 s here."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Callable

import pytest
from support.program import Program
from support.ttl import LONG, set_ttl
from support.until import until

from fleetgate import Fleet

Start = Callable[..., Program]
TTL = 3.0


def busy(fleet: Fleet) -> int:
    return fleet.status()["busy"]


def is_alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(("ttl", "seconds"), [(TTL, 7.5), pytest.param(LONG, 60, marks=pytest.mark.long)])
def test_renewals_go_on_while_the_task_holds_the_interpreter_lock(
    fleet: Fleet, program: Start, seconds: float
) -> None:
    held = program("holder", fleet.name, "w-0", "lock", str(seconds))
    held.says("held")
    ends = time.monotonic() + 0.8 * seconds
    while time.monotonic() < ends:
        assert busy(fleet) == 1
        time.sleep(0.2)
    assert held.says("kept") == "None"
    assert held.says("release") == "released"
    assert held.ends() == 0


def test_a_loss_under_a_held_lock_is_known_at_once_when_it_is_free_again(
    fleet: Fleet, program: Start
) -> None:
    held = program("holder", fleet.name, "w-0", "lock", "3")
    fleet.release(leases=[held.says("held")])
    assert held.says("lost") == "told"
    assert held.says("release") == "lost"


def test_a_killed_process_frees_its_slot_within_a_ttl_and_takes_its_keeper_along(
    fleet: Fleet, program: Start
) -> None:
    killed = program("holder", fleet.name, "w-0", "until-lost")
    keeper = killed.says("keeper")
    killed.says("held")
    killed.signal(signal.SIGKILL)
    until(lambda: not is_alive(keeper), "the keeper's process ends", TTL)
    with fleet.join("eu", "w-1", keeper="thread") as other, other.slot(wait=TTL + 1) as lease:
        assert not lease.degraded
        assert busy(fleet) == 1


def test_ctrl_c_while_joining_leaves_neither_a_pod_nor_a_keeper(
    fleet: Fleet, program: Start, tmp_path: Path
) -> None:
    joining = program("joiner", fleet.name, "w-0", str(tmp_path / "python"))
    until(lambda: fleet.status()["live"] == 1, "it has joined")
    joining.signal(signal.SIGINT)
    joining.says("cut")
    assert fleet.status()["live"] == 0
    children = [task.read_text() for task in Path(f"/proc/{joining.pid}/task").glob("*/children")]
    assert "".join(children) == ""
    time.sleep(TTL)
    assert fleet.status()["live"] == 0


def test_a_stopped_process_is_told_once_and_releases_nobody_elses_slot(fleet: Fleet, program: Start) -> None:
    stopped = program("holder", fleet.name, "w-0", "until-lost")
    stopped.says("held")
    stopped.signal(signal.SIGSTOP)
    with fleet.join("eu", "w-1", keeper="thread") as other, other.slot(wait=3 * TTL) as lease:
        time.sleep(TTL)
        stopped.signal(signal.SIGCONT)
        assert stopped.says("lost") in ("silence", "told")
        assert stopped.says("release") == "lost"
        assert stopped.says("end") == "left"
        assert stopped.ends() == 0
        assert sum(line.startswith("called") for line in stopped.lines) == 1
        lease.check()
        assert busy(fleet) == 1


def test_a_keeper_that_is_killed_is_replaced_by_threads(fleet: Fleet, program: Start) -> None:
    held = program("holder", fleet.name, "w-0", "until-closing", "0")
    os.kill(int(held.says("keeper")), signal.SIGKILL)
    held.says("held")
    ends = time.monotonic() + 1.5 * TTL
    while time.monotonic() < ends:
        time.sleep(0.2)
        assert busy(fleet) == 1
    held.signal(signal.SIGTERM)
    assert held.says("release") == "released"
    assert held.ends() == 0
    assert "beating from a thread instead" in held.errors


def test_sigterm_drains_renews_until_the_work_is_done_and_leaves(fleet: Fleet, program: Start) -> None:
    held = program("holder", fleet.name, "w-0", "until-closing", str(1.5 * TTL))
    held.says("held")
    held.signal(signal.SIGTERM)
    assert held.says("closing") == "draining"
    until(lambda: fleet.status()["draining"] == 1, "the pod counts as draining")
    assert fleet.status()["live"] == 0
    assert held.says("release") == "released"
    assert held.ends() == 0
    status = fleet.status()
    assert (status["busy"], status["draining"]) == (0, 0)


def test_each_forked_child_is_a_pod_of_its_own(fleet: Fleet, program: Start) -> None:
    set_ttl(fleet, LONG)
    forker = program("forker", fleet.name, POD_NAME="worker-0")
    seen = [forker.says("child", 30).split() for _ in range(8)]
    names = {pod for pod, _ in seen}
    instances = {instance for _, instance in seen}
    assert len(names) == len(instances) == 8
    assert all(name.startswith("worker-0.") for name in names)
    until(lambda: fleet.status()["live"] == 9, "the parent and 8 children count")
    inherited = [line for line in forker.lines if line.startswith("inherited")]
    assert inherited == ["inherited inherited parent"]
    assert any(line.startswith("own parent.") for line in forker.lines)
    forker.end_input()
    assert forker.says("codes") == "[0, 0, 0, 0, 0, 0, 0, 0] release released"
    assert forker.ends() == 0
    assert fleet.status()["live"] == 0


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_a_child_of_multiprocessing_leaves_when_it_ends(fleet: Fleet, program: Start, method: str) -> None:
    fleet.put_policy(ttl_ms=60_000, lease_ttl_ms=60_000)
    parent = program("mpchild", fleet.name, method)
    for _ in range(3 if method == "fork" else 2):
        parent.says("held high", 30)
    assert set(json.loads(parent.says("codes", 30))) == {0}
    status = fleet.status()
    assert (status["live"], status["busy"]) == (0, 0)
    parent.end_input()
    assert parent.ends() == 0
