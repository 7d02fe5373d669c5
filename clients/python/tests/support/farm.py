"""Celery workers of tests/programs/celery_app.py on one broker, and what may be asked of that broker."""

from __future__ import annotations

import os
import re
from typing import Any, Callable

import redis
from celery import Celery
from celery.result import AsyncResult

from fleetgate import Fleet

from .broker import Broker
from .program import HERE, SOURCE, Program

_QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


class Farm:
    """Starts workers and sends them tasks."""

    def __init__(self, fleet: Fleet, broker: Broker, program: Callable[..., Program]) -> None:
        self.fleet = fleet
        self.broker = broker
        self.app = Celery("sender", broker=broker.url, backend=broker.url)
        self.redis = redis.Redis.from_url(broker.url, decode_responses=True)
        self._program = program

    def worker(self, pod: str, *arguments: str, pool: str = "solo", **environment: str) -> Program:
        """Starts one; it says `ready` once it consumes."""
        given = {
            "BROKER": self.broker.url,
            "FLEET": self.fleet.name,
            "POD_NAME": pod,
            "PYTHONPATH": f"{SOURCE}{os.pathsep}{HERE / 'programs'}",
            **environment,
        }
        name = f"{pod}@{given.get('FLEETGATE_CLUSTER', 'here')}"
        line = ("-m", "celery", "-A", "celery_app", "worker", *_QUIET, "-P", pool, "-c", "1", "-n", name)
        return self._program(*line, *arguments, **given)

    def send(self, task: str, *given: Any, **options: Any) -> AsyncResult[Any]:
        """Sends that task of the app's."""
        return self.app.send_task(f"celery_app.{task}", given, **options)

    @property
    def queued(self) -> int:
        """How many messages are in the queue, and in no worker."""
        return int(self.redis.llen("celery"))

    @property
    def unacked(self) -> int:
        """How many messages workers have, acknowledged by none."""
        return int(self.redis.hlen("unacked"))

    @property
    def busy(self) -> int:
        """How many slots are taken."""
        return self.fleet.status()["busy"]

    @property
    def live(self) -> int:
        """How many pods count."""
        return self.fleet.status()["live"]

    def close(self) -> None:
        """Closes its connections."""
        self.app.close()
        self.redis.close()


def advice_of(worker: Program) -> list[str]:
    """The lines that a worker's settings were told off in."""
    return re.findall(r"WARNING:fleetgate:(.*)", worker.errors)
