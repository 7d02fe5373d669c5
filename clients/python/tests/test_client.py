"""The client's own rules, before a scripted server."""

from __future__ import annotations

import threading
from typing import Any, Callable

import pytest
from support.server import FaultyServer, Seen, unavailable

from fleetgate import (
    Client,
    ProblemError,
    Queue,
    RawJson,
    Request,
    Response,
    UnavailableError,
    UnsupportedError,
)
from fleetgate.jsontext import Exact, decode, encode

KEY = "fg_secret-key"
TAKEN = {"allowed": True, "remaining": 1.5, "delay_ms": 0, "rate_per_s": 2.5}


def serving(*bodies: Any) -> FaultyServer:
    return FaultyServer(lambda _, number: bodies[min(number, len(bodies) - 1)])


CALLS: list[tuple[Callable[[Client], Any], str, str, Any, Any]] = [
    (
        lambda c: c.limit("gpu").put(algorithm="token_bucket", capacity=10, refill_per_s=2.5, shadow=True),
        "PUT",
        "/v1/limits/gpu",
        {"algorithm": "token_bucket", "capacity": 10, "refill_per_s": 2.5, "shadow": True},
        {"algorithm": "token_bucket", "capacity": 10},
    ),
    (
        lambda c: c.limit("gpu").take(key="user 1", cost=2, request_id="r"),
        "POST",
        "/v1/limits/gpu/take",
        {"key": "user 1", "cost": 2, "request_id": "r"},
        TAKEN,
    ),
    (lambda c: c.limit("gpu").peek("a/b"), "GET", "/v1/limits/gpu/keys/a%2Fb", None, TAKEN),
    (
        lambda c: c.limit("gpu").settle(request_id="r", actual=0),
        "POST",
        "/v1/limits/gpu/settle",
        {"request_id": "r", "actual": 0},
        {"settled": True, "remaining": 1},
    ),
    (
        lambda c: c.take([{"limit": "gpu", "cost": 2}], request_id="r"),
        "POST",
        "/v1/take",
        {"takes": [{"limit": "gpu", "cost": 2}], "request_id": "r"},
        {"allowed": True, "takes": []},
    ),
    (
        lambda c: c.filter("seen").add(["a"]),
        "POST",
        "/v1/filters/seen/add",
        {"items": ["a"]},
        {"added": 1},
    ),
    (
        lambda c: c.filter("seen").check(["a"]),
        "POST",
        "/v1/filters/seen/check",
        {"items": ["a"]},
        {"present": [True]},
    ),
    (
        lambda c: c.filter("seen").guard("a", limit="gpu"),
        "POST",
        "/v1/filters/seen/guard",
        {"item": "a", "limit": "gpu"},
        {"verdict": "pass"},
    ),
    (
        lambda c: c.queue("infer").fail(lease="l", error="e", retry=False, delay_ms=5, reason="x"),
        "POST",
        "/v1/queues/infer/fail",
        {"lease": "l", "error": "e", "retry": False, "delay_ms": 5, "reason": "x"},
        {"state": "dead", "already": False},
    ),
    (
        lambda c: c.queue("infer").complete(lease="l", result=None),
        "POST",
        "/v1/queues/infer/complete",
        {"lease": "l", "result": None},
        {"completed": True, "already": False},
    ),
    (
        lambda c: c.queue("infer").redrive(["a"]),
        "POST",
        "/v1/queues/infer/redrive",
        {"ids": ["a"]},
        {"redriven": 1},
    ),
    (
        lambda c: c.queue("infer").dead(limit=2),
        "GET",
        "/v1/queues/infer/dead?limit=2",
        None,
        {"tasks": [], "next": None},
    ),
]


@pytest.mark.parametrize(("call", "method", "path", "body", "answer"), CALLS)
def test_calls_send_the_wires_own_words(
    call: Callable[[Client], Any], method: str, path: str, body: Any, answer: Any
) -> None:
    with serving({"body": answer}) as server:
        assert call(Client(server.url, KEY)) == answer
    assert [(one.method, one.path, one.body) for one in server.seen] == [(method, path, body)]


@pytest.mark.parametrize(
    ("call", "answer", "name"),
    [
        (lambda c: c.limit("l").take(), TAKEN, "request_id"),
        (lambda c: c.take([{"limit": "l"}]), {"allowed": True, "takes": []}, "request_id"),
        (lambda c: c.queue("q").claim(cluster="eu", pod="p"), {"tasks": []}, "request_id"),
        (lambda c: c.queue("q").enqueue(1), {"id": "i", "state": "ready", "duplicate": False}, "id"),
    ],
)
def test_what_must_not_happen_twice_keeps_its_id_over_tries(
    call: Callable[[Client], Any], answer: Any, name: str
) -> None:
    with serving(unavailable(), {"fault": "reset"}, {"body": answer}) as server:
        call(Client(server.url, KEY))
    assert len({one.body[name] for one in server.seen}) == 1
    assert len(server.seen) == 3


def test_a_guard_that_may_have_spent_is_not_sent_again() -> None:
    with serving(unavailable()) as server, pytest.raises(UnavailableError) as error:
        Client(server.url, KEY).filter("f").guard("a", limit="l")
    assert (len(server.seen), error.value.attempts) == (1, 1)


def test_one_connection_a_thread_is_kept_and_a_closed_one_is_replaced() -> None:
    ports: list[Any] = []

    def answer(seen: Seen, number: int) -> dict[str, Any]:
        ports.append(seen.headers["x-port"])
        return {"body": {"fleets": []}, "headers": {"connection": "close"} if number == 1 else {}}

    with FaultyServer(answer) as server:
        before = server.handle

        def handle(handler: Any) -> None:
            handler.headers["x-port"] = str(handler.client_address[1])
            before(handler)

        server.handle = handle  # type: ignore[method-assign]
        client = Client(server.url, KEY)
        for _ in range(4):
            client.fleets()
        thread = threading.Thread(target=client.fleets)
        thread.start()
        thread.join()
    assert ports[0] == ports[1] != ports[2] == ports[3] != ports[4]


@pytest.mark.parametrize("size", [2_000_000, 20_000_000])
def test_what_is_too_large_is_refused_and_not_tried_again(queue: Queue, size: int) -> None:
    with pytest.raises(ProblemError) as refused:
        queue.enqueue("x" * size)
    assert refused.value.code == "too-large"


def test_the_key_is_shown_nowhere() -> None:
    def leak(request: Request) -> Response:
        raise OSError(f"refused: {request.headers['authorization']}")

    client = Client("http://x", KEY, transport=leak)
    with pytest.raises(UnavailableError) as error:
        client.fleets(deadline=0.2)
    shown = repr(client) + repr(client.fleet("f")._sender.settings) + repr(error.value) + str(error.value)
    assert KEY not in shown
    assert "[key]" in shown


def test_a_transport_of_ones_own_beats_from_a_thread() -> None:
    beat = b'{"ttl_ms": 30000, "next_heartbeat_ms": 10000, "directive": "drain", "lost": []}'
    asked = threading.Event()

    def answer(request: Request) -> Response:
        leaving = request.url.endswith("/leave")
        return Response(200, {}, b'{"left": true, "released": []}' if leaving else beat)

    fleet = Client("http://x", KEY, transport=answer).fleet("f")
    with pytest.raises(UnsupportedError):
        fleet.join(keeper="process")
    with fleet.join(on_drain=lambda _: asked.set()) as pod:
        assert asked.wait(5)
        assert pod.asked_to_drain


def test_answers_and_payloads_keep_their_text() -> None:
    text = '{"tasks":[{"payload": {"payload":[1e400,"}{"]} ,"id":"a"},{"id":"payload","payload":"payload"}]}'
    tasks = decode(text, Exact("payload", 3))["tasks"]
    assert [task["payload_text"] for task in tasks] == ['{"payload":[1e400,"}{"]}', '"payload"']
    deep = decode('{"result": ' + "[" * 50_000 + "]" * 50_000 + "}", Exact("result", 1))
    assert set(deep) == {"result_text"}
    body = {"tasks": [{"payload": RawJson("1.0e400"), "é": "\ud800"}]}
    assert encode(body) == '{"tasks":[{"payload":1.0e400,"é":"\\ud800"}]}'.encode()
    for wrong in ("NaN", "1,2", "[" * 100_000, ""):
        with pytest.raises(ValueError, match=r".+"):
            RawJson(wrong)
    with pytest.raises(ValueError, match=r".+"):
        encode({"a": float("nan")})
