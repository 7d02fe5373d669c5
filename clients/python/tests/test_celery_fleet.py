"""Ten Celery workers of three clusters on one fleet; leases live 6 s here."""

from __future__ import annotations

import os
import signal
import threading
import time

from support.farm import Farm
from support.program import Program
from support.until import until

TTL = 6.0
CLUSTERS = ("aws", "gcp", "oci")
TASKS = [f"t{number}" for number in range(14)]


def said(worker: Program, word: str) -> list[list[str]]:
    return [line.split()[1:] for line in worker.lines if line.startswith(word)]


class Watch:
    """What the tasks say of themselves, and the coordinator of its slots."""

    def __init__(self, farm: Farm, workers: list[Program]) -> None:
        self._farm = farm
        self._workers = workers
        self._most = 0
        self._killed: dict[Program, float] = {}
        self._over = threading.Event()
        self._looks = threading.Thread(target=self._look, daemon=True)
        self._looks.start()

    @property
    def starts(self) -> int:
        """How many tasks have begun so far."""
        return sum(len(said(worker, "start")) for worker in self._workers)

    def running(self) -> list[Program]:
        """Workers in the midst of a task."""
        alive = [worker for worker in self._workers if worker not in self._killed]
        return [worker for worker in alive if len(said(worker, "start")) > len(said(worker, "done"))]

    def kill(self, worker: Program) -> None:
        os.killpg(worker.pid, signal.SIGKILL)
        self._killed[worker] = time.time()

    def most_at_once(self) -> int:
        """How many ran at once at most, by the tasks' own times and by the coordinator; ends the watch."""
        self._over.set()
        self._looks.join()
        changes: list[tuple[float, int]] = []
        for worker in self._workers:
            ends = [float(done[-1]) for done in said(worker, "done")] + [self._killed.get(worker, 0.0)]
            for start, end in zip(said(worker, "start"), ends):
                changes += [(float(start[-1]), 1), (end, -1)]
        now = most = 0
        for _, change in sorted(changes):
            now += change
            most = max(most, now)
        return max(most, self._most)

    def _look(self) -> None:
        while not self._over.wait(0.1):
            self._most = max(self._most, self._farm.busy)


def test_eight_of_ten_run_and_never_nine_whoever_dies_or_leaves(farm: Farm) -> None:
    workers = [farm.worker(f"w-{number}", FLEETGATE_CLUSTER=CLUSTERS[number % 3]) for number in range(10)]
    for worker in workers:
        worker.says("ready", 90)
    until(lambda: farm.live == 10, "all count")
    watch = Watch(farm, workers)
    results = {name: farm.send("until_told", name) for name in TASKS}
    until(lambda: watch.starts == 8, "eight run")
    time.sleep(TTL)
    assert (watch.starts, farm.queued, farm.unacked) == (8, 6, 8)

    killed = watch.running()[:2]
    for worker in killed:
        watch.kill(worker)
    until(lambda: farm.busy == 6, "their slots are free", TTL + 1)
    until(lambda: (farm.queued, farm.unacked) == (8, 6), "their messages are back in the queue", TTL + 1)

    # Eight live now, so six may run, and six do. Scaled to five, four may.
    running = watch.running()
    idle = [worker for worker in workers if worker not in running and worker not in killed]
    leaving = [*idle, running[0]]
    for worker in leaving:
        worker.signal(signal.SIGTERM)
    until(lambda: farm.live == 5, "five count")
    assert (watch.starts, farm.busy) == (8, 6)
    for worker in running:
        farm.let_end(said(worker, "start")[0][0])
    until(lambda: watch.starts == 12, "four more begin")
    time.sleep(TTL)
    assert (watch.starts, len(watch.running()), farm.busy) == (12, 4, 4)
    assert [worker.ends() for worker in leaving] == [0, 0, 0]

    for name in TASKS:
        farm.let_end(name)
    assert {name: result.get(30) for name, result in results.items()} == dict(zip(TASKS, TASKS))
    until(lambda: (farm.busy, farm.queued, farm.unacked) == (0, 0, 0), "nothing is left")
    assert watch.most_at_once() == 8
    assert watch.starts == len(TASKS) + 2  # those of the killed ones began twice
    assert {start[1] for worker in workers for start in said(worker, "start")} == {"0"}
