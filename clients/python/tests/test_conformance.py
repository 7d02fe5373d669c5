"""The cases that every client runs."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.conformance import CASES, DOCUMENT, Case, check_requests, perform, reply_of, result_of
from support.server import FaultyServer

from fleetgate import Client, FleetgateError, ProblemError, UnavailableError

KEY = DOCUMENT["client"]["key"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_conformance(case: Case) -> None:
    with FaultyServer(lambda _, number: reply_of(case, number)) as server:
        bounds = {name: DOCUMENT["client"][f"{name}_ms"] / 1_000 for name in ("timeout", "deadline")}
        client = Client(server.url, KEY, **bounds)
        started = time.monotonic()
        result, error = attempt(client, case)
        took_ms = 1_000 * (time.monotonic() - started)
        seen = list(server.seen)
    check_requests(case, seen, KEY)
    if "error" in case["expect"]:
        check_error(case["expect"]["error"], error)
    else:
        assert error is None
        assert result == result_of(case)
    assert took_ms < case["expect"].get("max_total_ms", float("inf"))
    for number, gap_ms in enumerate(case["expect"].get("min_gaps_ms", [])):
        assert 1_000 * (seen[number + 1].at - seen[number].at) >= gap_ms


def attempt(client: Client, case: Case) -> tuple[Any, Any]:
    try:
        return perform(client, case), None
    except (FleetgateError, ValueError, TypeError) as error:
        return None, error


def check_error(expected: dict[str, Any], error: Any) -> None:
    assert KEY not in repr(error) + str(error) + repr(vars(error))
    kind = {"problem": ProblemError, "unavailable": UnavailableError, "argument": ValueError}[
        expected["kind"]
    ]
    assert isinstance(error, kind)
    for name, value in expected.items():
        if name != "kind":
            assert getattr(error, name) == value
