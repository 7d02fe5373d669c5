"""RQ workers ended in every way, as real processes over a real Redis."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Callable

import pytest
from rq import Retry
from rq.command import send_stop_job_command
from rq.worker import Worker
from support.broker import Broker
from support.program import Program
from support.rq_workers import TTL, RqWorkers, ended, go_on, horse_of, stop
from support.until import until

from fleetgate import Fleet

Start = Callable[..., Program]
HASTY = "rq_jobs.HastyWorker"
SIMPLE = "fleetgate.rq.GatedSimpleWorker"
SPAWN = "fleetgate.rq.GatedSpawnWorker"


@pytest.fixture
def workers(broker: Broker, fleet: Fleet, program: Start) -> RqWorkers:
    return RqWorkers(broker, fleet, program)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_sigterm_lets_the_job_end_and_takes_no_other(workers: RqWorkers) -> None:
    first, second = (workers.enqueue("work", 1.5 * TTL, job_id=name) for name in ("t", "u"))
    worker = workers.start("w-0")
    worker.says("start t")
    worker.signal(signal.SIGTERM)
    until(lambda: workers.fleet.status()["draining"] == 1, "the pod counts as draining")
    worker.says("end t")
    assert worker.ends() == 0
    assert (first.get_status(), second.get_status()) == ("finished", "queued")
    assert ended(first) == "w-0"
    status = workers.fleet.status()
    assert (status["busy"], status["live"], status["draining"]) == (0, 0, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_ended_while_it_starts_leaves_the_fleet(workers: RqWorkers, number: int) -> None:
    workers.set_ttl(30)
    worker = workers.start("w-0", worker="rq_jobs.SlowStarter")
    worker.says("starting")
    assert workers.fleet.status()["live"] == 1
    worker.signal(number)
    assert worker.ends() == 0
    assert workers.fleet.status()["live"] == 0


@pytest.mark.parametrize("worker", ["fleetgate.rq.GatedWorker", SIMPLE])
def test_when_the_grace_is_over_another_worker_starts_the_job_at_once(
    workers: RqWorkers, worker: str
) -> None:
    workers.set_ttl(30)
    job = workers.enqueue("work", 60, job_id="t", retry=Retry(max=1))
    first = workers.start("w-0", worker=worker, FLEETGATE_GRACE="1.2")
    first.says("start t")
    second = workers.start("w-1")
    workers.live(2)
    first.signal(signal.SIGTERM)
    assert first.ends() == 0
    second.says("start t", 5)
    job.refresh()
    assert (job.retries_left, workers.lost_count(job)) == (1, None)
    assert workers.busy() == 1


def test_a_second_signal_hands_the_job_back(workers: RqWorkers) -> None:
    job = workers.enqueue("deaf", 60, job_id="t")
    worker = workers.start("w-0")
    horse = horse_of(worker, "t")
    worker.signal(signal.SIGTERM)
    time.sleep(1.2)  # RQ takes a second signal within one second for the same
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0
    assert job.get_status() == "queued"
    assert workers.queue.get_job_ids() == ["t"]
    assert not is_alive(horse)
    assert workers.busy() == 0


def test_a_killed_worker_loses_its_job_to_another_within_a_ttl(workers: RqWorkers) -> None:
    job = workers.enqueue("until_told", job_id="t", retry=Retry(max=1))
    first = workers.start("w-0")
    horse = horse_of(first, "t")
    second = workers.start("w-1")
    workers.live(2)
    first.signal(signal.SIGKILL)
    Worker([workers.queue], connection=workers.redis).clean_registries()  # as each plain worker of RQ's does
    second.says("start t", 2 * TTL)
    assert not is_alive(horse)
    workers.tell(job)
    assert ended(job) == "w-1"
    job.refresh()
    assert (job.retries_left, workers.lost_count(job)) == (1, b"1")
    assert workers.notes() == ["start t", "start t", "end t"]


def test_a_job_that_takes_its_workers_down_ends_among_the_failed(workers: RqWorkers) -> None:
    for number in range(3):
        workers.start(f"w-{number}", worker=HASTY)
    workers.live(3)
    job = workers.enqueue("kill_worker", job_id="t")
    until(lambda: job.get_status() == "failed", "it is begun no more", 40)
    assert workers.notes() == ["start t", "start t"]
    assert workers.queue.failed_job_registry.get_job_ids() == ["t"]
    assert "AbandonedJobError" in str(job.latest_result().exc_string)  # type: ignore[union-attr]


def test_a_work_horse_killed_alone_is_a_failure_and_frees_the_slot(workers: RqWorkers) -> None:
    workers.set_ttl(30)
    workers.start("w-0")
    job = workers.enqueue("kill_self", job_id="t", retry=Retry(max=1))
    until(lambda: job.get_status() == "failed", "RQ's own rule applies")
    assert workers.notes() == ["start t", "start t"], "its Retry was used"
    until(lambda: workers.busy() == 0, "the slot is free", 5)


@pytest.mark.parametrize("worker", ["fleetgate.rq.GatedWorker", SIMPLE])
def test_a_stopped_worker_is_told_once_and_writes_no_result(workers: RqWorkers, worker: str) -> None:
    job = workers.enqueue("until_told", job_id="t")
    first = workers.start("w-0", worker=worker)
    horse = horse_of(first, "t")
    second = workers.start("w-1")
    workers.live(2)
    stop(horse, first.pid)
    second.says("start t", 3 * TTL)
    time.sleep(TTL / 2)
    go_on(first.pid, horse)
    first.says("lost t")
    first.says("Worker w-0: job t was handed back, its result is not written")
    assert workers.busy() == 1, "the other's slot is still its own"
    workers.tell(job)
    assert ended(job) == "w-1"
    assert workers.notes() == ["start t", "start t", "lost t", "end t"]


def test_a_lost_slot_ends_the_job_and_hands_it_back_at_once(workers: RqWorkers) -> None:
    workers.set_ttl(30)
    job = workers.enqueue("deaf", 30, job_id="t", retry=Retry(max=1))
    worker = workers.start("w-0", worker=HASTY)
    horse = horse_of(worker, "t")
    (pod,) = workers.fleet.pods()["pods"]
    workers.fleet.release(leases=[lease["id"] for lease in pod["leases"]])
    worker.says("start t")
    assert not is_alive(horse), "a job that does not end by itself is killed"
    job.refresh()
    assert (job.retries_left, workers.lost_count(job)) == (1, None)


def test_a_full_fleet_keeps_the_job_in_its_queue_and_uses_no_retry(workers: RqWorkers) -> None:
    with workers.fleet.join("eu", "other", keeper="thread") as other, other.slot(wait=5) as held:
        worker = workers.start("w-0")
        workers.live(2)
        job = workers.enqueue("work", 0, job_id="t", retry=Retry(max=3))
        ends = time.monotonic() + TTL
        until(lambda: workers.queue.get_job_ids() == ["t"], "it waits in its queue")
        while time.monotonic() < ends:
            assert workers.busy() == 1
            assert job.get_status() == "queued"
            time.sleep(0.1)
        assert workers.queue.get_job_ids() == ["t"]
        held.release()
        worker.says("end t")
    ended(job)
    job.refresh()
    assert (job.retries_left, workers.lost_count(job)) == (3, None)
    assert workers.notes() == ["start t", "end t"]


def test_an_urgent_queue_is_served_while_the_other_waits(workers: RqWorkers) -> None:
    with workers.fleet.join("eu", "other", keeper="thread") as other, other.slot(wait=5) as held:
        worker = workers.start("w-0", queues=("work", "urgent"), FLEETGATE_CLASSES="urgent=high")
        workers.live(2)
        normal = workers.enqueue("work", 0, job_id="normal")
        until(lambda: "start normal" not in workers.notes(), "it waits")
        ended(workers.enqueue("work", 0, queue="urgent", job_id="urgent"))
        own = workers.enqueue("work", 0, job_id="own", at_front=True, meta={"fleetgate_class": "high"})
        assert normal.get_status() == own.get_status() == "queued"
        held.release()
        ended(normal)
        ended(own)
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0
    assert workers.notes("start")[0] == "start urgent"


def test_an_idle_worker_holds_no_slot(workers: RqWorkers) -> None:
    for number in range(3):
        workers.start(f"w-{number}")
    workers.live(3)
    ended(workers.enqueue("work", 0, job_id="t"))
    until(lambda: workers.busy() == 0, "it gave its slot back")
    ends = time.monotonic() + TTL
    while time.monotonic() < ends:
        assert workers.busy() == 0
        time.sleep(0.1)


def test_each_worker_of_a_pool_is_a_pod_of_its_own(workers: RqWorkers) -> None:
    pool = workers.start("pool", "-n", "3", command="worker-pool")
    workers.live(3)
    names = {pod["pod"] for pod in workers.fleet.pods()["pods"]}
    assert len(names) == 3
    assert all(name.startswith("pool.") for name in names)
    ended(workers.enqueue("work", 0, job_id="t"))
    pool.signal(signal.SIGTERM)
    assert pool.ends() == 0
    assert workers.fleet.status()["live"] == 0


def test_workers_of_a_host_without_pod_name_are_pods_of_their_own(workers: RqWorkers) -> None:
    for number in range(2):
        workers.start(f"w-{number}", POD_NAME="")
    workers.live(2)


def test_a_spawned_work_horse_hears_of_the_loss(workers: RqWorkers) -> None:
    workers.set_ttl(30)
    job = workers.enqueue("until_told", job_id="t")
    worker = workers.start("w-0", worker=SPAWN)
    worker.says("start t")
    (pod,) = workers.fleet.pods()["pods"]
    workers.fleet.release(leases=[lease["id"] for lease in pod["leases"]])
    worker.says("lost t")
    worker.says("start t")
    workers.tell(job)
    assert ended(job) == "w-0"


def test_a_job_may_hold_the_interpreter_lock_for_longer_than_a_ttl(workers: RqWorkers) -> None:
    job = workers.enqueue("lock", 2 * TTL, job_id="t")
    workers.start("w-0", worker=SIMPLE).says("start t")
    workers.start("w-1")
    workers.live(2)
    assert ended(job) == "w-0"
    assert workers.notes() == ["start t", "kept t"]


def test_a_job_stopped_by_an_operator_stays_stopped(workers: RqWorkers) -> None:
    job = workers.enqueue("until_told", job_id="t")
    workers.start("w-0").says("start t")
    send_stop_job_command(workers.redis, "t")
    until(lambda: job.get_status() == "stopped", "it is stopped")
    until(lambda: workers.busy() == 0, "its slot is free")
    assert workers.queue.get_job_ids() == []


def test_a_burst_worker_waits_for_its_slot_and_ends_when_nothing_is_left(workers: RqWorkers) -> None:
    with workers.fleet.join("eu", "other", keeper="thread") as other, other.slot(wait=5) as held:
        jobs = [workers.enqueue("work", 0, job_id=name) for name in ("t", "u")]
        worker = workers.start("w-0", "--burst")
        workers.live(2)
        until(lambda: workers.queue.get_job_ids() == ["t", "u"], "both wait")
        held.release()
        assert worker.ends() == 0
    assert [job.get_status() for job in jobs] == ["finished", "finished"]
    assert workers.busy() == 0


def test_rq_hears_of_a_long_job_in_the_workers_own_process(workers: RqWorkers) -> None:
    job = workers.enqueue("until_told", job_id="t")
    workers.start("w-0", "--job-monitoring-interval", "1", worker=SIMPLE).says("start t")

    def has_beaten() -> bool:
        (execution,) = job.get_executions()
        return (execution.last_heartbeat - execution.created_at).total_seconds() > 1

    until(has_beaten, "heartbeats go on")
    workers.tell(job)
    ended(job)


def test_a_job_that_never_looks_writes_no_result_without_its_slot(workers: RqWorkers) -> None:
    workers.set_ttl(30)
    job = workers.enqueue("deaf", 3, job_id="t", retry=Retry(max=1))
    worker = workers.start("w-0", worker=SIMPLE)
    worker.says("start t")
    (pod,) = workers.fleet.pods()["pods"]
    workers.fleet.release(leases=[lease["id"] for lease in pod["leases"]])
    worker.says("end t")
    worker.says("Worker w-0: job t was handed back, its result is not written")
    assert job.latest_result() is None
    worker.says("end t")
    assert ended(job) == "w-0"
    job.refresh()
    assert (job.retries_left, workers.lost_count(job)) == (1, None)
