"""What a forked child sees of the leases its parent holds, against the real coordinator."""

from __future__ import annotations

import json
import time
from typing import Callable

import pytest
from support.program import Program

from fleetgate import Fleet
from fleetgate.keeper.board import Board

TTL = 3.0
Start = Callable[..., Program]


def test_a_forked_child_follows_its_parents_renewals(fleet: Fleet, program: Start) -> None:
    shared = program("sharer", fleet.name)
    held = shared.says("held")
    time.sleep(1.5 * TTL)
    shared.line("look")
    assert shared.says("inherited") == "held"
    assert shared.says("shared") == f"held {held}"


def test_a_forked_child_is_told_of_its_parents_loss_once(fleet: Fleet, program: Start) -> None:
    shared = program("sharer", fleet.name)
    fleet.release(leases=[shared.says("held")])
    assert shared.says("called") == "told"
    shared.line("look")
    assert shared.says("inherited") == "told"
    assert shared.says("shared") == "told"
    shared.line("end")
    assert shared.ends() == 0
    assert sum(line.startswith("called") for line in shared.lines) == 1


def test_a_released_lease_is_not_held_in_a_child_though_another_takes_its_place(
    fleet: Fleet, program: Start
) -> None:
    shared = program("sharer", fleet.name)
    shared.says("held")
    shared.line("again")
    shared.says("again")
    shared.line("look")
    assert shared.says("shared") == "left"


def test_a_lease_of_a_stranger_is_refused(fleet: Fleet) -> None:
    with fleet.join("eu", "w-0", keeper="thread") as pod, pod.slot() as lease:
        token = json.loads(json.dumps(pod.share(lease)))
        assert pod.shared(token).reason is None
        with pytest.raises(ValueError, match="not forked from it"):
            pod.shared([1, *token[1:]])


def test_more_leases_than_cells_are_still_judged_by_their_deadline() -> None:
    board = Board()
    cells = [board.take() for _ in range(2_000)]
    for cell in cells:
        cell.begin(10.0)
    assert {cell.reason(9.0) for cell in cells} == {None}
    assert {cell.reason(10.0) for cell in cells} == {"silence"}
    for cell in cells:
        cell.end()
        board.give_back(cell)
    assert board.take().number >= 0


def test_a_lease_given_back_after_its_work_was_not_lost(fleet: Fleet) -> None:
    told: list[str | None] = []
    with fleet.join("eu", "w-0", keeper="thread") as pod:
        lease = pod.slot()
        seen = pod.shared(pod.share(lease))
        seen.on_lost(lambda lost: told.append(lost.reason))
        seen.end()
        lease.release()
        assert not seen.lost.wait(1)
        assert (seen.reason, told) == (None, [])
