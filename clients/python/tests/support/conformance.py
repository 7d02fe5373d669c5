"""Reads test/conformance/cases.json, which every client runs; its `about` says what the parts mean."""

from __future__ import annotations

import json
import re
from typing import Any, Callable
from urllib.parse import parse_qsl, urlsplit

from fleetgate import Client

from .server import Reply, Seen
from .stack import ROOT

DOCUMENT: dict[str, Any] = json.loads((ROOT / "test" / "conformance" / "cases.json").read_text())
CASES: list[dict[str, Any]] = DOCUMENT["cases"]
Case = dict[str, Any]


def reply_of(case: Case, number: int) -> Reply:
    """The n-th reply, with names looked up."""
    if number >= len(case["respond"]):
        return {"status": 500, "text": "the case has no more replies"}
    given = case["respond"][number]
    if isinstance(given, str):
        return dict(DOCUMENT["replies"][given])
    parts = {name: value for name, value in given.items() if name != "use"}
    return {**DOCUMENT["replies"][given["use"]], **parts} if "use" in given else parts


def result_of(case: Case) -> Any:
    """What the call must give."""
    result = case["expect"].get("result")
    return DOCUMENT["replies"][result]["body"] if isinstance(result, str) else result


def perform(client: Client, case: Case) -> Any:
    """Makes the call that a case names."""
    call, args = case["call"], case["args"]
    options: dict[str, Any] = {}
    if "options" in args:
        options["deadline"] = args["options"]["deadline_ms"] / 1_000
    given = {
        _keyword(name): value for name, value in {**args.get("query", {}), **args.get("body", {})}.items()
    }
    given.update({name: args[name] for name in ("id", "key") if name in args})
    makers: dict[str, Callable[[str], Any]] = {
        "fleet": client.fleet,
        "queue": client.queue,
        "limit": client.limit,
        "filter": client.filter,
    }
    room: Any = next((make(args[kind]) for kind, make in makers.items() if kind in args), client)
    answer = getattr(room, _METHODS.get(call, call))(**given, **options)
    if call in ("pod_pages", "dead_pages"):
        return list(answer)
    return _without_texts(answer)


# What the cases call otherwise than this client does.
_METHODS = {
    "configure": "put",
    "queue_status": "get",
    "take_all": "take",
    **{f"{verb}_{room}": verb for verb in ("put", "get", "delete") for room in ("limit", "filter")},
}


def _without_texts(answer: Any) -> Any:
    """An answer as it came, without the exact texts that this client adds to it."""
    if isinstance(answer, dict):
        added = ("payload_text", "result_text")
        return {name: _without_texts(value) for name, value in answer.items() if name not in added}
    return [_without_texts(one) for one in answer] if isinstance(answer, list) else answer


def check_requests(case: Case, seen: list[Seen], key: str) -> None:
    """What the server saw must be what the case says."""
    if case["expect"]["requests"] is None:
        return
    expected: list[dict[str, Any]] = []
    for one in case["expect"]["requests"]:
        expected += [one] * one.get("times", 1)
    assert len(seen) == len(expected), [f"{one.method} {one.path} {one.text}" for one in seen]
    bound: dict[str, str] = {}
    for request, wanted in zip(seen, expected):
        parts = urlsplit(request.path)
        assert (request.method, parts.path) == (wanted["method"], wanted["path"])
        assert dict(parse_qsl(parts.query)) == wanted.get("query", {})
        for name, value in wanted.get("headers", {}).items():
            assert request.headers.get(name) == (value and value.replace("{key}", key))
        assert _matches(request.body, wanted.get("body"), bound), (request.body, wanted.get("body"))


def _matches(seen: Any, wanted: Any, bound: dict[str, str]) -> bool:
    if isinstance(wanted, dict) and "$bind" in wanted:
        fits = isinstance(seen, str) and re.search(wanted.get("pattern", ""), seen) is not None
        return fits and bound.setdefault(wanted["$bind"], seen) == seen
    if isinstance(wanted, dict) and isinstance(seen, dict):
        same_names = wanted.keys() == seen.keys()
        return same_names and all(_matches(seen[name], wanted[name], bound) for name in wanted)
    return bool(seen == wanted)


def _keyword(name: str) -> str:
    return "cls" if name == "class" else name
