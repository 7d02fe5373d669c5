"""RQ workers as processes, started by RQ's own command line, and what they leave in the broker."""

from __future__ import annotations

import os
import signal
from typing import Callable

from redis import Redis
from rq import Queue
from rq.job import Job

from fleetgate import Fleet

from .broker import Broker
from .program import HERE, Program
from .ttl import set_ttl
from .until import until

# How long pods and leases live, in seconds: many processes share a slow machine here.
TTL = 4.0


class RqWorkers:
    """One queue, `work`, and workers that serve it; jobs are functions of tests/programs/rq_jobs.py."""

    def __init__(self, broker: Broker, fleet: Fleet, program: Callable[..., Program]) -> None:
        self.redis = Redis.from_url(broker.url)
        self.queue = Queue("work", connection=self.redis, default_timeout=600)
        self.fleet = fleet
        self.set_ttl(TTL)
        self._url = broker.url
        self._program = program

    def start(
        self,
        name: str,
        *options: str,
        worker: str = "fleetgate.rq.GatedWorker",
        queues: tuple[str, ...] = ("work",),
        command: str = "worker",
        **environment: str,
    ) -> Program:
        """Starts `rq worker`; it is there once it says so (`is_there`)."""
        named = ("--name", name) if command == "worker" else ()
        return self._program(
            *("-m", "rq.cli", command, "-u", self._url, "-P", str(HERE / "programs")),
            *("--worker-class", worker, "--log-format", "%(message)s", *named, *options, *queues),
            **{"FLEETGATE_FLEET": self.fleet.name, "POD_NAME": name, **environment},
        )

    def set_ttl(self, seconds: float, pace: float = 1.0) -> None:
        """How long pods and leases live; beats come every `pace` seconds."""
        set_ttl(self.fleet, seconds, pace)

    def enqueue(self, function: str, *arguments: object, queue: str = "work", **options: object) -> Job:
        """A job of rq_jobs.py."""
        target = Queue(queue, connection=self.redis, default_timeout=600)
        return target.enqueue(f"rq_jobs.{function}", *arguments, **options)

    def notes(self, word: str = "") -> list[str]:
        """What jobs noted, in order; those that begin with a word."""
        notes = [note.decode() for note in self.redis.lrange("notes", 0, -1)]
        return [note for note in notes if note.startswith(word)]

    def noted(self, note: str, seconds: float = 20.0, times: int = 1) -> None:
        """Waits for a note."""
        until(lambda: self.notes().count(note) >= times, f"{note} {times} times, not {self.notes()}", seconds)

    def live(self, count: int, seconds: float = 40.0) -> None:
        """Waits until so many pods are live; starting many processes takes its time."""
        until(lambda: self.fleet.status()["live"] == count, f"{count} are live", seconds)

    def tell(self, *jobs: Job) -> None:
        """Lets jobs that run `until_told` end."""
        for job in jobs:
            self.redis.set(f"go:{job.id}", 1)

    def busy(self) -> int:
        return self.fleet.status()["busy"]

    def lost_count(self, job: Job) -> bytes | None:
        """How many workers died over a job."""
        return self.redis.hget(job.key, "fleetgate_lost")


def horse_of(worker: Program, job: str) -> int:
    """The process id of the work-horse that has said that it started a job."""
    return int(worker.says(f"start {job}"))


def stop(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


def go_on(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def ended(job: Job, seconds: float = 20.0) -> str:
    """Waits until a job is finished; the name of the worker whose result stands."""
    until(lambda: job.get_status() == "finished", f"{job.id} is finished", seconds)
    result = job.latest_result()
    assert result is not None
    return result.worker_name
