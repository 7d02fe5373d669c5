"""Ten Celery workers of three clusters on one fleet; leases live 2 s here."""

from __future__ import annotations

import os
import signal
import threading
import time

from support.farm import Farm
from support.program import Program
from support.until import until

TTL = 2.0
CLUSTERS = ("aws", "gcp", "oci")


class Watch:
    """What tasks themselves say: how many ran at once, at most."""

    def __init__(self, workers: list[Program]) -> None:
        self._workers = workers

    def running(self) -> list[Program]:
        """Workers whose task has begun and not ended."""
        return [worker for worker in self._workers if count(worker, "start") > count(worker, "done")]

    def starts(self) -> int:
        """How many tasks have begun so far."""
        return sum(count(worker, "start") for worker in self._workers)


def count(worker: Program, word: str) -> int:
    return sum(line.startswith(word) for line in worker.lines)


class Most:
    """The most slots that were ever taken, as the coordinator counts them."""

    def __init__(self, farm: Farm) -> None:
        self._farm = farm
        self._stop = threading.Event()
        self.busy = 0
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._stop.wait(0.1):
            self.busy = max(self.busy, self._farm.busy)

    def stop(self) -> int:
        self._stop.set()
        self._thread.join()
        return self.busy


def test_eight_of_ten_run_never_nine_and_the_killed_ones_tasks_are_redelivered(farm: Farm) -> None:
    workers = [
        farm.worker(f"w-{number}", FLEETGATE_CLUSTER=CLUSTERS[number % 3]) for number in range(10)
    ]
    for worker in workers:
        worker.says("ready", 90)
    until(lambda: farm.live == 10, "all count")
    watch, most = Watch(workers), Most(farm)
    for number in range(14):
        farm.send("frame", f"long-{number}", 600)
    until(lambda: watch.starts() == 8, "eight run")
    time.sleep(TTL)
    assert (watch.starts(), farm.queued, farm.unacked) == (8, 6, 8)

    # Two are killed in mid-task: of the eight that live six may run, so their two tasks wait in the queue.
    killed = watch.running()[:2]
    for worker in killed:
        os.killpg(worker.pid, signal.SIGKILL)
    until(lambda: farm.busy == 6, "their slots are free", TTL + 1)
    until(lambda: (farm.queued, farm.unacked) == (8, 6), "their messages are back", TTL + 1)
    assert watch.starts() == 8

    # Scaled to five, what runs goes on, and no new task begins before fewer than four run.
    alive = [worker for worker in workers if worker not in killed]
    ended = [worker for worker in alive if worker not in watch.running()][:2] + watch.running()[2:3]
    assert len(ended) == 3
    for worker in ended:
        worker.signal(signal.SIGTERM)
