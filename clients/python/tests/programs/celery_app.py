"""A Celery worker of a test's: celery_app.py ARGUMENTS-OF-celery-worker. Its settings stand in the environment."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from typing import Any

from celery import Celery, signals
from lines import say

from fleetgate.celery import current_lease, install

logging.basicConfig(level="INFO")
app = Celery("render", broker=os.environ["BROKER"], backend=os.environ["BROKER"])
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


def work(name: str, seconds: float, retries: int = 0) -> None:
    """Takes so many seconds unless its slot is lost."""
    lease = current_lease()
    lease.on_lost(lambda lost: say("told", name, lost.reason))
    say("start", name, retries, os.getpid(), "degraded" if lease.degraded else "held")
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and not lease.lost.is_set():
        time.sleep(0.02)
    say("lost" if lease.lost.is_set() else "done", name, lease.reason)


@app.task(bind=True, fleetgate=True, autoretry_for=(Exception,))
def frame(self: Any, name: str, seconds: float = 0.0) -> str:
    work(name, seconds, self.request.retries)
    return os.environ["POD_NAME"]


@app.task(fleetgate="high")
def urgent(name: str, seconds: float = 0.0) -> None:
    work(name, seconds)


@app.task(fleetgate=True)
def broken(name: str) -> None:
    work(name, 0.2)
    raise RuntimeError("broken")


@app.task(bind=True, fleetgate=True)
def again(self: Any, name: str) -> None:
    work(name, 0, self.request.retries)
    if self.request.retries == 0:
        raise self.retry(countdown=0.5)


@app.task
def plain(name: str) -> None:
    say("plain", name)


@signals.worker_ready.connect
def ready(**_: Any) -> None:
    say("ready")


if __name__ == "__main__":
    app.worker_main(["worker", "--without-gossip", "--without-mingle", "--without-heartbeat", *sys.argv[1:]])
