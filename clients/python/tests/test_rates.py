"""Limits and filters, against the real coordinator."""

from __future__ import annotations

import secrets

import pytest

from fleetgate import Client, ProblemError


def test_a_limit_is_made_spent_settled_and_taken_away(client: Client) -> None:
    limit = client.limit(f"l-{secrets.token_hex(6)}")
    made = limit.put(algorithm="token_bucket", capacity=10, refill_per_s=0.001)
    assert (made["capacity"], limit.get()["refill_per_s"]) == (10, 0.001)
    first = limit.take(key="é/1", cost=8, request_id="r")
    assert (first["allowed"], limit.take(key="é/1", cost=8, request_id="r")["allowed"]) == (True, True)
    assert limit.take(key="é/1", cost=8)["retry_after_ms"] > 1_000
    assert limit.settle(key="é/1", request_id="r", actual=1)["settled"]
    assert 8.9 < limit.peek("é/1")["remaining"] < 9.1
    both = client.take([{"limit": limit.name, "key": "é/1", "cost": 9}])
    assert both["allowed"]
    assert client.take([{"limit": limit.name, "key": "é/1"}])["refused_by"] == limit.name
    [level] = [one for one in client.limits()["limits"] if one["limit"] == limit.name]
    assert (level["remaining"], level["config"]["capacity"]) == (10, 10)
    limit.delete()
    with pytest.raises(ProblemError, match="not-found"):
        limit.get()


def test_a_filter_knows_what_was_added(client: Client) -> None:
    limit = client.limit(f"l-{secrets.token_hex(6)}")
    limit.put(algorithm="token_bucket", capacity=1, refill_per_s=0.001)
    seen = client.filter(f"f-{secrets.token_hex(6)}")
    seen.put(capacity=1_000, error_rate=0.001)
    assert seen.get()["capacity"] == 1_000
    assert seen.add(["a", "😀"])["added"] == 2
    assert seen.check(["a", "b", "😀"])["present"] == [True, False, True]
    verdicts = [seen.guard(item, limit=limit.name)["verdict"] for item in ("b", "a", "a")]
    assert verdicts == ["absent", "pass", "limited"]
    seen.rotate()
    assert seen.check(["a"])["present"] == [True]
    seen.delete()
