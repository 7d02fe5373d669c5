"""A Celery worker of a test's: celery_app.py WORKER-ARGUMENTS. What it is like stands in its environment."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from celery import Celery, signals
from lines import say

from fleetgate.celery import current_lease, install

app = Celery("render", broker=os.environ["BROKER"], backend=os.environ["BROKER"])
app.conf.update(
    broker_connection_retry_on_startup=True,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    task_time_limit=300,
)
install(
    app,
    os.environ["FLEET"],
    pod=os.environ.get("POD"),
    cluster=os.environ.get("CLUSTER"),
    on_unavailable="closed" if os.environ.get("CLOSED") else None,
)


@app.task(bind=True, fleetgate=True, max_retries=3, acks_late=True, reject_on_worker_lost=True)
def frame(self: Any, name: str, seconds: float) -> str:
    """Takes so many seconds unless its slot is lost."""
    lease = current_lease()
    lease.on_lost(lambda lost: say("told", name, lost.reason))
    say("start", name, os.getpid(), self.request.retries, lease.id is not None)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and not lease.lost.is_set():
        time.sleep(0.02)
    say("done" if not lease.lost.is_set() else "lost", name, lease.reason)
    return os.environ.get("POD", "")


@signals.worker_ready.connect
def ready(**_: Any) -> None:
    say("ready")


if __name__ == "__main__":
    app.worker_main(["worker", "--without-gossip", "--without-mingle", "--without-heartbeat", *sys.argv[1:]])
