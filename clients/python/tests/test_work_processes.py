"""Workers of a queue as processes, ended in every way, against the real coordinator; leases live 3 s here."""

from __future__ import annotations

import signal
from typing import Any, Callable

from support.program import Program
from support.until import until

from fleetgate import Fleet, Queue

Start = Callable[..., Program]
TTL = 3.0


def state(queue: Queue, task: str) -> str:
    return queue.task(task)["state"]


def finished(queue: Queue, task: str) -> Any:
    until(lambda: state(queue, task) == "completed", f"{task} is completed")
    return queue.task(task)


def test_sigterm_ends_the_claiming_and_lets_the_work_end(queue: Queue, program: Start) -> None:
    queue.enqueue(None, id="first")
    queue.enqueue(None, id="second")
    worker = program("worker", queue.name, "w-0", "10", str(1.5 * TTL))
    worker.says("start first 1")
    worker.signal(signal.SIGTERM)
    worker.says("done first None")
    assert worker.says("drained") == "True"
    assert worker.ends() == 0
    assert (state(queue, "first"), state(queue, "second")) == ("completed", "ready")
    assert queue.task("first")["result"] == {"by": "w-0"}


def test_when_the_grace_is_over_another_worker_starts_the_task_at_once(
    queue: Queue, fleet: Fleet, program: Start
) -> None:
    fleet.put_policy(ttl_ms=30_000, lease_ttl_ms=30_000)
    queue.put(fleet=fleet.name, lease_ttl_ms=30_000, max_deliveries=1)
    queue.enqueue(None, id="t")
    first = program("worker", queue.name, "w-0", "0.5", "60")
    first.says("start t 1")
    second = program("worker", queue.name, "w-1", "5", "0")
    until(lambda: fleet.status()["live"] == 2, "the second worker waits")
    first.signal(signal.SIGTERM)
    assert first.says("lost") == "t left"
    second.says("done t", 5)
    assert first.ends() == 0
    assert finished(queue, "t")["result"] == {"by": "w-1"}


def test_a_killed_worker_loses_its_task_to_another_within_a_ttl(
    queue: Queue, fleet: Fleet, program: Start
) -> None:
    queue.enqueue(None, id="t")
    first = program("worker", queue.name, "w-0", "0.5", "60")
    first.says("start t 1")
    first.signal(signal.SIGKILL)
    second = program("worker", queue.name, "w-1", "5", "0")
    second.says("start t 2", 3 * TTL)
    assert finished(queue, "t")["result"] == {"by": "w-1"}
    assert fleet.status()["busy"] == 0


def test_a_stopped_worker_writes_no_result_when_it_goes_on(queue: Queue, program: Start) -> None:
    queue.enqueue(None, id="t")
    first = program("worker", queue.name, "w-0", "5", "2.5")
    first.says("start t 1")
    first.signal(signal.SIGSTOP)
    second = program("worker", queue.name, "w-1", "5", "0")
    second.says("done t", 10)
    first.signal(signal.SIGCONT)
    first.says("lost t")
    first.signal(signal.SIGTERM)
    assert first.ends() == 0
    assert queue.task("t")["result"] == {"by": "w-1"}


def test_a_signal_that_reaches_another_thread_ends_a_claim_that_waits(queue: Queue, program: Start) -> None:
    waiting = program("sidelong", queue.name)
    assert waiting.says("drained", 15) == "True"
    assert waiting.ends() == 0
