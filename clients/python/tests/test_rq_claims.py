"""The steps of RQ's claims over a real Redis, by its clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis
from rq import Queue, Retry
from rq.job import Job
from support.broker import Broker

from fleetgate.rq.bell import Bell
from fleetgate.rq.claims import Claim, Claims, Nothing, claims_key

LONG_S = 60.0
SHORT_S = 0.2


@pytest.fixture
def queue(broker: Broker) -> Iterator[Queue]:
    redis = Redis.from_url(broker.url)
    yield Queue("work", connection=redis, default_timeout=600)
    redis.close()


@pytest.fixture
def claims(queue: Queue) -> Claims:
    return Claims(queue.connection, Job, max_deliveries=3)


def enqueue(queue: Queue, *names: str, **options: Any) -> list[Job]:
    return [queue.enqueue("time.sleep", 0, job_id=name, **options) for name in names]


def taken(claims: Claims, *queues: Queue, ttl: float = LONG_S) -> Claim:
    found = claims.take(queues, ttl)
    assert isinstance(found, Claim)
    return found


def lapse() -> None:
    time.sleep(SHORT_S * 1.5)


def test_a_job_is_claimed_as_it_is_popped_in_the_order_of_the_queues(queue: Queue, claims: Claims) -> None:
    urgent = Queue("urgent", connection=queue.connection)
    enqueue(queue, "a", "b")
    enqueue(urgent, "u")
    first, second = taken(claims, urgent, queue), taken(claims, urgent, queue)
    assert [(first.queue.name, first.job_id), (second.queue.name, second.job_id)] == [
        ("urgent", "u"),
        ("work", "a"),
    ]
    assert queue.get_job_ids() == ["b"]
    assert queue.connection.zscore(claims_key(queue), second.member) is not None


def test_with_no_job_it_tells_when_the_next_claim_lapses(queue: Queue, claims: Claims) -> None:
    assert claims.take([queue], LONG_S) == Nothing(None)
    enqueue(queue, "a")
    taken(claims, queue)
    found = claims.take([queue], LONG_S)
    assert isinstance(found, Nothing)
    assert found.lapses_in is not None
    assert LONG_S - 10 < found.lapses_in <= LONG_S
    assert claims.take([], LONG_S) == Nothing(None)


def test_what_is_given_back_comes_first_again_and_counts_no_delivery(queue: Queue, claims: Claims) -> None:
    enqueue(queue, "a", "b", retry=Retry(max=2))
    claim = taken(claims, queue)
    assert claims.give_back(claim) is True
    assert queue.get_job_ids() == ["a", "b"]
    assert claims.give_back(claim) is False, "a claim ends once"
    assert queue.get_job_ids() == ["a", "b"]
    job = Job.fetch("a", connection=queue.connection)
    assert (job.retries_left, queue.connection.hget(job.key, "fleetgate_lost")) == (2, None)


def test_lapsed_claims_go_back_in_their_order_and_renewed_ones_stay(queue: Queue, claims: Claims) -> None:
    enqueue(queue, "a", "b", "c", "d")
    for _ in range(2):
        taken(claims, queue, ttl=SHORT_S)
    renewed = taken(claims, queue, ttl=SHORT_S)
    assert claims.keep(renewed, LONG_S)
    lapse()
    assert sorted(claims.give_back_lapsed(queue).back) == ["a", "b"]
    assert queue.get_job_ids() == ["a", "b", "d"]
    assert claims.holds(renewed)
    assert claims.give_back_lapsed(queue).back == []


def test_a_lapsed_claim_that_nobody_saw_may_still_be_renewed(queue: Queue, claims: Claims) -> None:
    enqueue(queue, "a")
    claim = taken(claims, queue, ttl=SHORT_S)
    lapse()
    assert claims.keep(claim, LONG_S)
    assert claims.give_back_lapsed(queue).back == []


def test_a_claim_is_shortened_only_on_request(queue: Queue, claims: Claims) -> None:
    enqueue(queue, "a")
    claim = taken(claims, queue)
    key = claims_key(queue)
    before = queue.connection.zscore(key, claim.member)
    assert claims.keep(claim, 1)
    assert queue.connection.zscore(key, claim.member) == before
    assert claims.keep(claim, 1, shorten=True)
    assert queue.connection.zscore(key, claim.member) < before


def test_a_redis_without_memory_still_renews_and_takes_back(queue: Queue, claims: Claims) -> None:
    enqueue(queue, "a", "b")
    claim = taken(claims, queue)
    queue.connection.config_set("maxmemory", "1")
    assert claims.keep(claim, 2 * LONG_S)
    assert claims.give_back(claim)
    assert taken(claims, queue).job_id == "a"
    queue.connection.config_set("maxmemory", "0")
    assert queue.get_job_ids() == ["b"]


@pytest.mark.parametrize("ended", ["canceled", "deleted", "failed"])
def test_a_job_that_ended_otherwise_does_not_come_back(queue: Queue, claims: Claims, ended: str) -> None:
    (job,) = enqueue(queue, "a")
    taken(claims, queue, ttl=SHORT_S)
    if ended == "canceled":
        job.cancel()
    elif ended == "deleted":
        job.delete()
    else:
        job.set_status("failed")  # type: ignore[arg-type]
    lapse()
    assert claims.give_back_lapsed(queue).back == []
    assert queue.get_job_ids() == []
    assert not queue.connection.exists(claims_key(queue))


def test_a_job_begun_too_often_is_left_to_rq_as_abandoned(queue: Queue, claims: Claims) -> None:
    (job,) = enqueue(queue, "a")
    for _ in range(2):
        taken(claims, queue, ttl=SHORT_S)
        lapse()
        assert claims.give_back_lapsed(queue).back == ["a"]
    taken(claims, queue, ttl=SHORT_S)
    lapse()
    found = claims.give_back_lapsed(queue)
    assert (found.back, found.spent) == ([], ["a"])
    queue.started_job_registry.cleanup(timestamp=1)
    assert job.get_status() == "failed"
    assert queue.failed_job_registry.get_job_ids() == ["a"]
    assert queue.connection.hget(job.key, "fleetgate_lost") is None, "a requeue by hand begins anew"


def test_a_bell_rings_for_a_job_and_leaves_it_where_it_is(queue: Queue) -> None:
    ring = threading.Event()
    bell = Bell(queue.connection, queue, ring, block=1)
    bell.arm()
    assert not ring.wait(0.3)
    enqueue(queue, "a", "b")
    assert ring.wait(10)
    assert queue.get_job_ids() == ["a", "b"]
