"""An app of Celery's whose workers tests start; its settings stand in the environment."""

from __future__ import annotations

import ctypes
import json
import logging
import os
import time
from pathlib import Path
from typing import Any, Callable

from celery import Celery, signals
from lines import say

from fleetgate.celery import current_lease, install

logging.basicConfig(level="INFO")
app = Celery("render", broker=os.environ["BROKER"], backend=os.environ["BACKEND"])
app.conf.update(
    broker_connection_retry_on_startup=True,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_time_limit=300,
)
app.conf.update(json.loads(os.environ.get("SETTINGS", "{}")))
install(app, os.environ["FLEET"], on_unavailable="closed" if os.environ.get("CLOSED") else "open")


def work(name: str, is_over: Callable[[], bool], retries: int = 0) -> None:
    """Runs until it is over or its slot is lost."""
    lease = current_lease()
    lease.on_lost(lambda lost: say("told", name, lost.reason))
    say("start", name, retries, os.getpid(), "degraded" if lease.degraded else "held", time.time())
    while not (is_over() or lease.lost.is_set()):
        time.sleep(0.02)
    say("lost" if lease.lost.is_set() else "done", name, lease.reason, time.time())


def after(seconds: float) -> Callable[[], bool]:
    ends = time.monotonic() + seconds
    return lambda: time.monotonic() >= ends


@app.task(bind=True, fleetgate=True, autoretry_for=(Exception,))
def frame(self: Any, name: str, seconds: float = 0.0) -> str:
    work(name, after(seconds), self.request.retries)
    return os.environ["POD_NAME"]


@app.task(fleetgate=True)
def until_told(name: str) -> str:
    """Runs until the test makes a file of its name."""
    work(name, Path(os.environ["ENDS"], name).exists)
    return name


@app.task(fleetgate="high")
def urgent(name: str, seconds: float = 0.0) -> None:
    work(name, after(seconds))


@app.task(fleetgate=True)
def broken(name: str) -> None:
    work(name, after(0.2))
    raise RuntimeError("broken")


@app.task(bind=True, fleetgate=True)
def again(self: Any, name: str) -> None:
    work(name, after(0), self.request.retries)
    say("headers", self.request.headers)
    if self.request.retries == 0:
        raise self.retry(countdown=0.5)


@app.task(fleetgate="high")
def locked(name: str, seconds: float) -> None:
    """A native call that keeps the interpreter lock."""
    say("start", name)
    ctypes.PyDLL(None).usleep(int(seconds * 1_000_000))
    current_lease().check()


@app.task(fleetgate="misspelt")
def misspelt() -> None:
    say("misspelt")


@app.task
def plain(name: str) -> None:
    say("plain", name)


@app.task(fleetgate=True)
def quits(name: str) -> None:
    work(name, after(0))
    raise SystemExit(3)


@signals.worker_ready.connect
def ready(**_: Any) -> None:
    say("ready")


if "MARK" in os.environ:

    @app.task(fleetgate=json.loads(os.environ["MARK"]))
    def marked() -> None:
        """Its mark is wrong."""
