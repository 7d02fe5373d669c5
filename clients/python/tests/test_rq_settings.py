"""What RQ's workers take from code and environment, and what they check when they start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from redis import Redis
from rq import Queue
from rq.worker import Worker
from support.broker import Broker

from fleetgate import Client
from fleetgate.rq import CLASS_IN_META, Gating, current_lease
from fleetgate.rq.checks import problems, refuse_old_redis


@pytest.fixture
def queue(broker: Broker) -> Iterator[Queue]:
    redis = Redis.from_url(broker.url)
    yield Queue("work", connection=redis, default_timeout=600)
    redis.close()


def test_it_says_what_is_wrong_for_long_jobs(queue: Queue) -> None:
    worker = Worker([queue], connection=queue.connection, default_result_ttl=500)
    assert list(problems(worker)) == []
    for timeout in (180, 7_200, -1):
        queue.enqueue("time.sleep", 0, job_timeout=timeout)
    queue.connection.config_set("maxmemory", "1gb")
    queue.connection.config_set("maxmemory-policy", "allkeys-lru")
    said = list(problems(worker))
    assert [line.partition(":")[0] for line in said] == [
        "jobs in work have RQ's default timeout and are ended after 180 s",
        "jobs in work have no timeout, so one that hangs keeps its slot for ever",
        "results are kept 500 s, less than a job may take (7200 s)",
        "Redis may evict jobs and claims when its memory is full (maxmemory-policy allkeys-lru)",
    ]
    assert not any("\n" in line for line in said)
    refuse_old_redis(worker)


def test_the_environment_gives_what_the_code_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "FLEETGATE_FLEET": "render",
        "FLEETGATE_CLASS": "batch",
        "FLEETGATE_CLASSES": "urgent=high, preview = high",
        "FLEETGATE_GRACE": "50",
        "FLEETGATE_ON_UNAVAILABLE": "closed",
    }.items():
        monkeypatch.setenv(name, value)
    given = Gating(client=Client()).resolved()
    assert (given.fleet, given.cls, given.grace, given.on_unavailable) == ("render", "batch", 50.0, "closed")
    assert given.classes == {"urgent": "high", "preview": "high"}
    assert Gating(fleet="own", client=Client()).resolved().fleet == "own"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("FLEETGATE_FLEET", "", "no fleet: set FLEETGATE_FLEET"),
        ("FLEETGATE_CLASSES", "urgent", "must look like urgent=high"),
        ("FLEETGATE_GRACE", "soon", "FLEETGATE_GRACE must be seconds"),
        ("FLEETGATE_ON_UNAVAILABLE", "maybe", 'must be "open" or "closed"'),
    ],
)
def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str) -> None:
    monkeypatch.setenv("FLEETGATE_FLEET", "render")
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=words):
        Gating(client=Client()).resolved()


def test_a_job_says_its_class_before_its_queue_does(queue: Queue) -> None:
    gating = Gating(fleet="f", cls="normal", classes={"work": "batch"}, client=Client()).resolved()
    plain, own = (
        queue.enqueue("time.sleep", 0),
        queue.enqueue("time.sleep", 0, meta={CLASS_IN_META: "high"}),
    )
    assert (gating.class_of(plain), gating.class_of(own)) == ("batch", "high")
    assert gating.class_of(Queue("other", connection=queue.connection).enqueue("time.sleep", 0)) == "normal"


def test_outside_a_job_the_lease_is_a_degraded_one_that_is_never_lost() -> None:
    lease = current_lease()
    lease.check()
    assert (lease.degraded, lease.lost.is_set(), lease.reason) == (True, False, None)


@pytest.mark.parametrize("missing", [True, False])
def test_without_rq_it_says_what_to_install(missing: bool) -> None:
    hide = "import sys; sys.modules['rq'] = None; " if missing else ""
    code = f"{hide}import fleetgate, sys; assert missing or 'rq' not in sys.modules; import fleetgate.rq"
    done = subprocess.run(
        [sys.executable, "-c", f"missing = {missing}; {code}"],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1:] if missing else []
    assert last == (["ImportError: fleetgate.rq needs RQ: pip install 'fleetgate[rq]'"] if missing else [])
    assert (done.returncode == 0) is not missing
