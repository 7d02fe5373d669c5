"""Workers of a queue, against the real coordinator; leases live 3 s here."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

import pytest
from support.proxy import Proxy
from support.until import until

from fleetgate import Client, Fleet, Queue, RawJson, Request, Response, Task, TaskFailed, Worker

TTL = 3.0


@contextmanager
def working(queue: Queue, fleet: Fleet, handler: Callable[[Task], Any], **options: Any) -> Iterator[Worker]:
    """A worker in a thread of this process, as a pod of its own."""
    concurrency = options.get("concurrency", 1)
    # The reserve of a small fleet must not be what holds the tests back.
    fleet.put_policy(
        ttl_ms=round(TTL * 1_000),
        heartbeat_ms=1_000,
        lease_ttl_ms=round(TTL * 1_000),
        classes={"normal": {"ratio": 1}, "high": {"ratio": 1}},
    )
    with fleet.join("eu", f"w-{secrets.token_hex(3)}", slots=concurrency, keeper="thread") as pod:
        worker = queue.worker(handler, pod=pod, wait=2.0, **options)
        thread = threading.Thread(target=worker.run)
        thread.start()
        try:
            yield worker
        finally:
            worker.stop()
            thread.join(20)
            assert not thread.is_alive()


def state(queue: Queue, task: str) -> str:
    return queue.task(task)["state"]


def finished(queue: Queue, task: str, wanted: str = "completed") -> Any:
    until(lambda: state(queue, task) == wanted, f"{task} is {wanted}")
    return queue.task(task)


PAYLOADS = [
    '"123"',
    "true",
    "[]",
    "{}",
    "9007199254740993",
    "1.0",
    "0.1",
    "1e400",
    '"\\u0000👩‍🚀"',
    '{"a":[1,2.50]}',
]


def test_payloads_and_results_keep_their_text(queue: Queue, fleet: Fleet) -> None:
    for number, text in enumerate(PAYLOADS):
        queue.enqueue(RawJson(text), id=f"t{number}")
    with working(queue, fleet, lambda task: RawJson(task.payload_text), concurrency=3):
        results = [finished(queue, f"t{number}")["result_text"] for number in range(len(PAYLOADS))]
    assert results == PAYLOADS


def test_python_values_survive(queue: Queue, fleet: Fleet) -> None:
    value = {"big": 2**70, "small": 0.1, "whole": 1.0, "none": None, "text": "é\0\ud800"}
    queue.enqueue(value, id="t")
    with working(queue, fleet, lambda task: [task.payload, None]):
        assert finished(queue, "t")["result"] == [value, None]


def test_a_payload_python_cannot_decode_fails_its_task_and_no_other(queue: Queue, fleet: Fleet) -> None:
    queue.put(fleet=fleet.name, lease_ttl_ms=2_000, max_deliveries=1)
    queue.enqueue(RawJson("9" * 5_000), id="digits")
    queue.enqueue("fine", id="fine")
    with working(queue, fleet, lambda task: task.payload):
        finished(queue, "digits", "dead")
        finished(queue, "fine")


def test_failures_are_told_as_the_handler_says(queue: Queue, fleet: Fleet) -> None:
    def handle(task: Task) -> None:
        if task.id == "again" and task.delivery == 1:
            raise TaskFailed("not yet", delay=0)
        if task.id == "never":
            raise TaskFailed("cannot be", retry=False, reason="bad-input")
        if task.id == "error":
            raise KeyError("frame")

    queue.put(fleet=fleet.name, lease_ttl_ms=2_000, max_deliveries=2)
    for name in ("again", "never"):
        queue.enqueue(None, id=name)
    queue.enqueue(None, id="error", max_deliveries=1)
    with working(queue, fleet, handle):
        assert finished(queue, "again")["deliveries"] == 2
        never, error = finished(queue, "never", "dead"), finished(queue, "error", "dead")
    assert (never["error"], never["reason"]) == ("cannot be", "bad-input")
    assert error["error"] == "KeyError: 'frame'"


def test_a_result_nobody_can_take_fails_the_task_once(queue: Queue, fleet: Fleet) -> None:
    queue.enqueue(1, id="large")
    queue.enqueue(2, id="no-json")
    with working(queue, fleet, lambda task: "x" * 70_000 if task.payload == 1 else object()):
        for name in ("large", "no-json"):
            task = finished(queue, name, "dead")
            assert (task["deliveries"], "refused" in task["error"]) == (1, True)


def test_never_more_at_a_time_than_asked_for(queue: Queue, fleet: Fleet) -> None:
    running, most, lock = set(), [0], threading.Lock()

    def handle(task: Task) -> None:
        with lock:
            running.add(task.id)
            most[0] = max(most[0], len(running))
        time.sleep(0.2)
        with lock:
            running.discard(task.id)

    tasks = [queue.enqueue(number)["id"] for number in range(6)]
    with working(queue, fleet, handle, concurrency=2):
        for task in tasks:
            finished(queue, task)
    assert most == [2]


def test_a_long_task_is_renewed_and_runs_once(queue: Queue, fleet: Fleet) -> None:
    runs: list[int] = []

    def handle(task: Task) -> None:
        runs.append(task.delivery)
        time.sleep(1.6 * TTL)
        task.check()

    queue.enqueue(None, id="long")
    with working(queue, fleet, handle):
        assert finished(queue, "long")["deliveries"] == 1
    assert runs == [1]


def test_the_hard_time_limit_ends_the_lease_and_the_late_result_is_not_written(
    queue: Queue, fleet: Fleet
) -> None:
    reasons: list[Any] = []

    def handle(task: Task) -> str:
        assert task.soft_left is not None
        assert task.soft_left < task.hard_left <= 2
        assert task.lost.wait(10)
        reasons.append(task.lease.reason)
        return "late"

    queue.put(
        fleet=fleet.name, lease_ttl_ms=2_000, time_limit_ms=2_000, soft_time_limit_ms=1_000, max_deliveries=1
    )
    queue.enqueue(None, id="endless")
    with working(queue, fleet, handle):
        assert "result" not in finished(queue, "endless", "dead")
    assert reasons in (["time_limit"], ["told"])


def test_a_lease_longer_than_the_time_limit_is_trusted_to_the_limit_and_no_longer(
    queue: Queue, fleet: Fleet
) -> None:
    seen: list[Any] = []

    def handle(task: Task) -> None:
        seen.append((task.soft_left, task.hard_left))
        assert task.lost.wait(10)
        seen.append(task.lease.reason)

    queue.put(
        fleet=fleet.name,
        lease_ttl_ms=3_600_000,
        time_limit_ms=2_000,
        soft_time_limit_ms=1_000,
        max_deliveries=1,
    )
    with working(queue, fleet, handle):
        # It waits at the coordinator for longer than the limits, which count from the claim and not from the call.
        time.sleep(2.5)
        queue.enqueue(None, id="endless")
        assert "result" not in finished(queue, "endless", "dead")
    (soft, hard), reason = seen
    assert 0 < soft <= 1 < hard <= 2
    assert reason in ("time_limit", "told")


def test_a_cancelled_task_is_told_to_its_handler(queue: Queue, fleet: Fleet) -> None:
    told = threading.Event()

    def handle(task: Task) -> str:
        queue.cancel(task.id)
        if task.lost.wait(10):
            told.set()
        return "too late"

    queue.enqueue(None, id="t")
    with working(queue, fleet, handle):
        assert told.wait(10)
    assert "result" not in finished(queue, "t", "cancelled")


def test_an_outage_is_waited_out_and_not_hammered(queue: Queue, fleet: Fleet, proxy: Proxy) -> None:
    far = Client(proxy.url, timeout=1.0)
    with working(far.queue(queue.name), far.fleet(fleet.name), lambda _: None):
        # The policy of `working` went through the proxy, so the worker is at work by now.
        proxy.shut()
        time.sleep(TTL)
        assert len(proxy.refused) < 20
        proxy.open()
        queue.enqueue(None, id="t")
        finished(queue, "t")


def test_waiting_for_a_slot_counts_no_delivery(queue: Queue, fleet: Fleet) -> None:
    queue.put(fleet=fleet.name, lease_ttl_ms=2_000, max_deliveries=1)
    with fleet.join("eu", "holder", keeper="thread") as holder, working(queue, fleet, lambda _: None):
        # Two pods are live, so the second slot is held as well.
        held = [holder.slot(wait=5), holder.slot(cls="high", wait=5)]
        queue.enqueue(None, id="t")
        time.sleep(1)
        assert state(queue, "t") == "ready"
        for lease in held:
            lease.release()
        assert finished(queue, "t")["deliveries"] == 1


def test_a_worker_needs_sensible_arguments(queue: Queue) -> None:
    with pytest.raises(ValueError, match="concurrency"):
        queue.worker(lambda _: None, concurrency=0)


def test_a_key_that_may_not_read_hears_that_the_fleet_must_be_given() -> None:
    def refuse(_: Request) -> Response:
        return Response(
            403,
            {},
            b'{"status": 403, "code": "wrong-scope", "detail": "this call needs the scope read or admin"}',
        )

    with pytest.raises(ValueError, match="its fleet must be given: fleet=, --fleet"):
        Client("http://x", "fg_k", transport=refuse).queue("infer").work(lambda _: None)
