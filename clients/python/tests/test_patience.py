"""How long clients wait and what they outlive, before a scripted coordinator."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from support.server import FaultyServer, Seen
from support.until import until

from fleetgate import Client, Pod, PodClosedError, ProblemError, Request, Response, Task, UnavailableError

KEY = "fg_secret-key"


def test_those_who_began_to_wait_together_do_not_all_come_back_together() -> None:
    waits: dict[str, list[int]] = {"acquire": [], "claim": []}
    full = {"granted": False, "reason": "at_capacity", "tasks": [], "retry_after_ms": 1}
    beat = {"ttl_ms": 30_000, "next_heartbeat_ms": 10_000, "directive": "run", "lost": []}
    config = {"config": {"fleet": "f"}}

    def answer(request: Request) -> Response:
        call = request.url.rsplit("/", 1)[-1]
        if call in waits:
            waits[call].append(json.loads(request.body or b"")["wait_ms"])
        told = {"leave": {"left": True, "released": []}, "heartbeat": beat, "q": config}.get(call, full)
        return Response(200, {}, json.dumps(told).encode())

    client = Client("http://x", KEY, transport=answer)
    with client.fleet("f").join(keeper="thread") as pod:
        worker = client.queue("q").worker(print, pod=pod, wait=20)
        threads = [threading.Thread(target=worker.run), threading.Thread(target=lambda: _slot(pod))]
        for thread in threads:
            thread.start()
        until(lambda: min(map(len, waits.values())) >= 50, "both have asked often")
        worker.stop()
        pod.drain(wait=0)
        for thread in threads:
            thread.join()
    for call, longest in (("acquire", 25_000), ("claim", 20_000)):
        assert 0.8 * longest <= min(waits[call]) <= max(waits[call]) <= longest
        assert len(set(waits[call][:50])) > 40


def test_a_worker_whose_claims_were_answered_outlives_refusals_and_keeps_what_it_has_in_hand() -> None:
    beat = {"ttl_ms": 30_000, "next_heartbeat_ms": 10_000, "directive": "run", "lost": []}
    none = {"tasks": [], "reason": "empty", "retry_after_ms": 1}
    lease = {"id": "t/1", "ttl_ms": 30_000, "expires_at": 30_000}
    task = {"payload": 1, "id": "a", "priority": 0, "class": "normal", "delivery": 1, "enqueued_at": 0}
    got = {"tasks": [{**task, "lease": lease, "deadline_at": 3_600_000}]}
    told: list[str] = []
    claims = [none, got, 404, 401, 403, none]

    def answer(request: Request) -> Response:
        call = request.url.rsplit("/", 1)[-1]
        if call == "claim":
            told.append(call)
            one = claims[min(len(told), len(claims)) - 1]
            if isinstance(one, int):
                problem = {"code": "not-found", "title": "", "detail": "", "status": one, "trace_id": "x"}
                return Response(
                    one, {"content-type": "application/problem+json"}, json.dumps(problem).encode()
                )
            return Response(200, {}, json.dumps(one).encode())
        if call in ("complete", "fail"):
            told.append(call)
        ends = {"leave": {"left": True, "released": []}, "complete": {"completed": True, "already": False}}
        return Response(200, {}, json.dumps(ends.get(call, beat)).encode())

    def handle(task: Task) -> None:
        until(lambda: told.count("claim") >= 7, "claims are refused, and tried again")

    client = Client("http://x", KEY, transport=answer)
    with client.fleet("f").join(keeper="thread") as pod:
        worker = client.queue("q").worker(handle, pod=pod, concurrency=2, wait=0)
        thread = threading.Thread(target=worker.run)
        thread.start()
        until(lambda: "complete" in told or "fail" in told, "the task in hand ends")
        worker.stop()
        thread.join()
        assert "fail" not in told

        told.clear()
        claims[:] = [404]
        with pytest.raises(ProblemError):
            client.queue("q").worker(handle, pod=pod).run()


def test_a_join_that_heard_nothing_takes_back_what_may_have_been_counted() -> None:
    def answer(seen: Seen, _: int) -> dict[str, Any]:
        beats = seen.path.endswith("/heartbeat")
        return {"fault": "reset"} if beats else {"body": {"left": True, "released": []}}

    with FaultyServer(answer) as server:
        fleet = Client(server.url, KEY, on_unavailable="closed").fleet("f")
        with pytest.raises(UnavailableError):
            fleet.join("eu", "w-0", keeper="thread", unavailable_after=0.3)
        assert server.seen[-1].path.endswith("/leave")
        assert server.seen[-1].body["instance"] == server.seen[0].body["instance"]


def _slot(pod: Pod) -> None:
    with pytest.raises(PodClosedError):
        pod.slot(wait=60)
