"""The command line, as processes against the real coordinator."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Callable

import pytest
from support.program import Program
from support.until import until

from fleetgate import Fleet, Queue

Start = Callable[..., Program]


def run(program: Start, fleet: Fleet, *command: str, flags: tuple[str, ...] = ()) -> Program:
    who = ("--cluster", "eu", "--pod", f"cli-{os.urandom(3).hex()}")
    return program("-m", "fleetgate", "run", "--fleet", fleet.name, *who, *flags, "--", *command)


def test_run_gives_the_commands_output_and_code_and_the_slot_back(program: Start, fleet: Fleet) -> None:
    ran = run(program, fleet, "sh", "-c", "echo one two; exit 7")
    assert ran.says("one") == "two"
    assert ran.ends() == 7
    status = fleet.status()
    assert (status["live"], status["busy"]) == (0, 0)


def test_run_holds_a_slot_while_the_command_runs_and_passes_signals_on(program: Start, fleet: Fleet) -> None:
    ran = run(
        program, fleet, "sh", "-c", "trap 'echo caught; exit 5' TERM; echo up; while :; do sleep 0.1; done"
    )
    ran.says("up")
    assert fleet.status()["busy"] == 1
    ran.signal(signal.SIGTERM)
    ran.says("caught")
    assert ran.ends() == 5
    assert fleet.status()["busy"] == 0


def test_run_tells_which_signal_ended_the_command(program: Start, fleet: Fleet) -> None:
    assert run(program, fleet, "sh", "-c", "kill -9 $$").ends() == 128 + 9


def test_run_ends_the_command_when_the_slot_is_lost(program: Start, fleet: Fleet) -> None:
    ran = run(
        program,
        fleet,
        "sh",
        "-c",
        "trap '' TERM; echo up; while :; do sleep 0.1; done",
        flags=("--grace", "0.5"),
    )
    ran.says("up")
    leases = [lease["id"] for pod in fleet.pods()["pods"] for lease in pod["leases"]]
    fleet.release(leases=leases)
    assert ran.ends() == 75
    assert "the slot was lost (told)" in ran.errors


def test_ctrl_c_while_the_command_starts_ends_it_in_silence(program: Start, fleet: Fleet) -> None:
    for moment in range(6):
        ran = run(program, fleet, "sleep", "5")
        children = Path(f"/proc/{ran.pid}/task/{ran.pid}/children")
        until(children.read_text, "the command starts")
        time.sleep(moment / 150)
        ran.signal(signal.SIGINT)
        assert ran.ends() == 128 + 2
        assert ran.errors == ""


def test_run_leaves_a_hang_up_ignored_that_nohup_had_ignored(program: Start, fleet: Fleet) -> None:
    script = "echo up; sleep 1; echo finished"
    ran = program("nohup", "run", "--fleet", fleet.name, "--pod", "p", "--", "sh", "-c", script)
    ran.says("up")
    ran.signal(signal.SIGHUP)
    ran.says("finished")
    assert ran.ends() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_work_lets_its_task_end_after_a_signal_that_asks_for_the_end(
    program: Start, queue: Queue, fleet: Fleet, number: int
) -> None:
    queue.enqueue(None, id="t")
    line = ("--queue", queue.name, "--pod", "p", "--", "sh", "-c", "echo up >&2; sleep 1; echo 1")
    work = program("-m", "fleetgate", "work", *line)
    until(lambda: "up" in work.errors, "it runs")
    work.signal(number)
    assert work.ends() == 0
    assert (queue.task("t")["state"], fleet.pods()["pods"]) == ("completed", [])


def test_the_command_dies_with_run(program: Start, fleet: Fleet) -> None:
    ran = run(program, fleet, "sh", "-c", "echo up $$; exec sleep 60")
    pid = ran.says("up")
    ran.signal(signal.SIGKILL)
    until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid), "the command ends")


def test_run_waits_for_a_slot_and_can_be_ended_meanwhile(program: Start, fleet: Fleet) -> None:
    with fleet.join("eu", "holder", keeper="thread") as holder, holder.slot(wait=5):
        waiting = run(program, fleet, "echo", "never")
        until(lambda: fleet.status()["live"] == 2, "it has joined")
        waiting.signal(signal.SIGTERM)
        assert waiting.ends() == 128 + 15
        late = run(program, fleet, "echo", "never", flags=("--wait", "0.2"))
        assert late.ends() == 75
    assert late.errors == "fleetgate: no slot was granted: at_capacity: wait longer with --wait\n"
    assert waiting.lines == late.lines == []


def test_run_goes_on_without_a_coordinator_unless_it_is_closed(program: Start, fleet: Fleet) -> None:
    away = {"FLEETGATE_URL": "http://127.0.0.1:1"}
    line = ("-m", "fleetgate", "run", "--fleet", "f", "--pod", "p")
    opened = program(*line, "--", "echo", "ran", **away)
    closed = program(*line, "--on-unavailable", "closed", "--", "echo", "ran", **away)
    opened.says("ran")
    assert opened.ends() == 0
    assert "running without a slot" in opened.errors
    assert closed.ends() == 69
    assert closed.lines == []


def test_work_feeds_payloads_and_takes_results(program: Start, queue: Queue) -> None:
    queue.enqueue({"n": 1}, id="json")
    queue.enqueue("text", id="text")
    queue.enqueue("bad", id="bad", max_deliveries=1)
    script = (
        'read x; case "$x" in *bad*) echo "no such frame" >&2; exit 3;; *n*) echo "{\\"got\\": 1.50}";; '
        '*) echo "$FLEETGATE_TASK_ID";; esac'
    )
    work = program("-m", "fleetgate", "work", "--queue", queue.name, "--pod", "p", "--", "sh", "-c", script)
    until(lambda: queue.get()["dead"] == 1, "the bad one is dead")
    until(lambda: queue.task("text")["state"] == "completed", "the text is done")
    work.signal(signal.SIGTERM)
    assert work.ends() == 0
    assert queue.task("json")["result_text"] == '{"got": 1.50}'
    assert queue.task("text")["result"] == "text\n"
    assert queue.task("bad")["error"] == "exit code 3: no such frame\n"


def test_work_hands_a_task_back_when_the_grace_is_over(program: Start, queue: Queue) -> None:
    queue.enqueue(None, id="t")
    line = ("--queue", queue.name, "--pod", "p", "--grace", "0.3", "--kill-after", "0.3")
    work = program("-m", "fleetgate", "work", *line, "--", "sh", "-c", "trap '' TERM; sleep 60 & wait; wait")
    until(lambda: queue.task("t")["state"] == "in_flight", "it runs")
    work.signal(signal.SIGTERM)
    assert work.ends() == 0
    task = queue.task("t")
    assert (task["state"], task["deliveries"]) == ("ready", 0)


def test_what_a_command_has_started_ends_with_it_when_its_task_is_handed_back(
    program: Start, queue: Queue
) -> None:
    queue.enqueue(None, id="t")
    line = ("--queue", queue.name, "--pod", "p", "--grace", "0.3")
    # This shell dies of SIGTERM and leaves its child alone.
    work = program("-m", "fleetgate", "work", *line, "--", "sh", "-c", "echo $$ >&2; sleep 60; true")
    until(lambda: work.errors, "it runs")
    group = int(work.errors)
    work.signal(signal.SIGTERM)
    assert work.ends() == 0
    until(lambda: not _is_alive(group), "nothing of it is left", 2)


def test_status_and_top_show_a_fleet(program: Start, fleet: Fleet) -> None:
    with fleet.join("eu", "holder", keeper="thread") as holder, holder.slot(wait=5):
        status = program("-m", "fleetgate", "status", fleet.name)
        assert status.ends() == 0
        numbers = status.lines[1].split()
        assert numbers == [fleet.name, "1", "1", "1", "0", "0", "0", "0", "eu", "1/1"]
        as_json = program("-m", "fleetgate", "status", "--json", fleet.name)
        assert as_json.ends() == 0
        assert json.loads("".join(as_json.lines))[0]["busy"] == 1
        top = program("-m", "fleetgate", "top", "--times", "2", "--every", "0.2", fleet.name)
        assert top.ends() == 0
        assert sum(fleet.name in line for line in top.lines) == 2
        assert (status.errors, top.errors) == ("", "")


def test_status_of_a_fleet_without_pods_asks_whether_that_is_its_name(program: Start, fleet: Fleet) -> None:
    status = program("-m", "fleetgate", "status", fleet.name)
    assert status.ends() == 0
    assert status.errors == f"fleetgate: no pod has joined {fleet.name}; is that its name?\n"


def test_top_looks_on_while_the_coordinator_is_away_and_ends_with_what_it_saw_last(program: Start) -> None:
    top = program(
        *("-m", "fleetgate", "top", "--times", "2", "--every", "0.2"), FLEETGATE_URL="http://127.0.0.1:1"
    )
    assert top.ends() == 69
    assert sum("looking again" in line for line in top.lines) == 2


WRONG = [
    (("status",), {"FLEETGATE_KEY": "fg_wrong"}, 2, "check FLEETGATE_KEY"),
    (("status",), {"FLEETGATE_KEY": ""}, 2, "set FLEETGATE_KEY"),
    (("run", "--fleet", "f"), {}, 2, "put it after --"),
    (
        ("run", "--fleet", "f", "true"),
        {},
        2,
        "unknown argument true: see fleetgate --help, or the command after `--`",
    ),
    (("runn",), {}, 2, "see fleetgate --help"),
    (
        ("run", "--fleet", "f", "--wait", "abc", "--", "true"),
        {},
        2,
        "invalid float value: 'abc': see fleetgate run --help",
    ),
    (("top", "--every", "0"), {}, 2, "--every must be 0.2 or more seconds"),
    (("status", "--nope"), {}, 2, "unknown argument --nope: see fleetgate --help"),
    (("work", "--queue", "nowhere", "--", "cat"), {}, 2, "check the name"),
    (("run", "--fleet", "f", "--pod", "p", "--", "no-such-program"), {}, 127, "cannot run no-such-program"),
    (("run", "--fleet", "f", "--pod", "p", "--", "/dev/null"), {}, 126, "cannot run /dev/null"),
]


@pytest.mark.parametrize(("line", "environment", "code", "words"), WRONG)
def test_errors_are_one_line_that_says_what_to_do(
    program: Start, line: tuple[str, ...], environment: dict[str, str], code: int, words: str
) -> None:
    ran = program("-m", "fleetgate", *line, **environment)
    assert ran.ends() == code
    assert ran.errors.count("\n") == 1
    assert words in ran.errors
    assert "fg_wrong" not in ran.errors


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _is_zombie(pid: str) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
