"""The books of running tasks' messages in the broker's Redis."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.farm import Farm
from support.until import until

from fleetgate.celery.unacked_store import UnackedStore

LONG, SHORT = 60.0, 0.05


@pytest.fixture
def channel(farm: Farm) -> Any:
    with farm.app.connection_for_write() as connection:
        yield connection.default_channel


@pytest.fixture
def tag(farm: Farm, channel: Any) -> str:
    """The delivery tag of a message that Kombu has delivered."""
    farm.send("plain", "a")
    message = channel.basic_get("celery")
    return str(message.delivery_tag)


def kept(farm: Farm) -> tuple[int, int, int]:
    return farm.queued, farm.unacked, int(farm.redis.zcard("unacked_index"))


def test_a_message_is_acknowledged_once(farm: Farm, channel: Any, tag: str) -> None:
    store = UnackedStore(channel)
    store.begin(f"{tag} l1", LONG)
    assert kept(farm) == (0, 1, 1)
    assert [store.finish(f"{tag} l1"), store.finish(f"{tag} l1")] == [True, False]
    assert kept(farm) == (0, 0, 0)
    assert store.renew([(f"{tag} l1", SHORT)]) == []
    assert farm.redis.zcard("unacked_index.fleetgate") == 0


def test_a_message_goes_back_to_the_front(farm: Farm, channel: Any, tag: str) -> None:
    farm.send("plain", "b")
    store = UnackedStore(channel)
    store.begin(f"{tag} l1", LONG)
    assert store.give_back(f"{tag} l1")
    assert kept(farm) == (2, 0, 0)
    first = json.loads(farm.redis.lindex("celery", -1))
    assert first["properties"]["delivery_tag"] == tag
    assert first["headers"]["redelivered"] is True


def test_what_is_overdue_is_put_back_by_one(farm: Farm, channel: Any, tag: str) -> None:
    store = UnackedStore(channel)
    store.begin(f"{tag} l1", LONG)
    assert (store.overdue(10), store.put_back(f"{tag} l1")) == ([], False)
    store.renew([(f"{tag} l1", SHORT)])
    assert until(lambda: store.overdue(10), "it is overdue") == [f"{tag} l1"]
    assert [store.put_back(f"{tag} l1"), store.put_back(f"{tag} l1")] == [True, False]
    assert kept(farm) == (1, 0, 0)


def test_its_first_worker_cannot_touch_what_was_put_back_and_is_another_workers(
    farm: Farm, channel: Any, tag: str
) -> None:
    store = UnackedStore(channel)
    store.begin(f"{tag} l1", SHORT)
    until(lambda: store.put_back(f"{tag} l1"), "it is overdue")
    assert channel.basic_get("celery").delivery_tag == tag
    store.begin(f"{tag} l2", LONG)
    assert store.renew([(f"{tag} l1", LONG), (f"{tag} l2", LONG)]) == [f"{tag} l1"]
    assert [store.finish(f"{tag} l1"), store.give_back(f"{tag} l1")] == [False, False]
    assert kept(farm) == (0, 1, 1)
    assert store.finish(f"{tag} l2")
