"""Celery workers of tests/programs/celery_app.py on one broker, and what may be asked of that broker."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any, Callable

import redis
from celery import Celery
from celery.states import READY_STATES

from fleetgate import Fleet

from .broker import Broker
from .program import HERE, SOURCE, Program
from .until import until

_QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


class Sent:
    """A task that was sent. It looks for its result, rather than wait for word as Celery's own does.

    Celery's goes on trying to reach its Redis for 20 s when that ends first, as it does in tests.
    """

    def __init__(self, app: Celery, task_id: str) -> None:
        self._app = app
        self.id = task_id

    @property
    def state(self) -> str:
        """As Celery names it: PENDING until a result is written."""
        return str(self._app.backend.get_task_meta(self.id)["status"])

    def get(self, seconds: float = 15.0) -> Any:
        """Its result, or raises what it failed with."""
        until(lambda: self.state in READY_STATES, f"{self.id} has a result", seconds)
        meta = self._app.backend.get_task_meta(self.id)
        if isinstance(meta["result"], BaseException):
            raise meta["result"]
        return meta["result"]


class Farm:
    """Starts workers and sends them tasks."""

    def __init__(self, fleet: Fleet, broker: Broker, program: Callable[..., Program]) -> None:
        self.fleet = fleet
        self.broker = broker
        self.app = Celery("sender", broker=broker.url, backend=broker.url)
        self.redis = redis.Redis.from_url(broker.url, decode_responses=True)
        self._program = program
        self._ends = tempfile.TemporaryDirectory(prefix="fleetgate-ends-")

    def worker(self, pod: str, *arguments: str, pool: str = "solo", **environment: str) -> Program:
        """Starts one; it says `ready` once it consumes."""
        given = {
            "BROKER": self.broker.url,
            "BACKEND": self.broker.url,
            "FLEET": self.fleet.name,
            "POD_NAME": pod,
            "ENDS": self._ends.name,
            "PYTHONPATH": f"{SOURCE}{os.pathsep}{HERE / 'programs'}",
            **environment,
        }
        name = f"{pod}@{given.get('FLEETGATE_CLUSTER', 'here')}"
        line = ("-m", "celery", "-A", "celery_app", "worker", *_QUIET, "-P", pool, "-c", "1", "-n", name)
        return self._program(*line, *arguments, **given)

    def send(self, task: str, *given: Any, **options: Any) -> Sent:
        """Sends that task of the app's."""
        return Sent(self.app, self.app.send_task(f"celery_app.{task}", given, **options).id)

    def let_end(self, name: str) -> None:
        """Ends the task until_told(name)."""
        Path(self._ends.name, name).touch()

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
        self._ends.cleanup()


def advice_of(worker: Program) -> list[str]:
    """The lines that a worker's settings were told off in."""
    return re.findall(r"WARNING:fleetgate:(.*)", worker.errors)
