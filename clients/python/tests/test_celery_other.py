"""A broker that is not Redis: Kombu's folder of files, whose consumer has no event loop either."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from celery import Celery
from support.farm import Farm
from support.until import until


@pytest.mark.parametrize("pool", ["threads", "solo"])
def test_tasks_wait_for_slots_and_run_once(farm: Farm, tmp_path: Path, pool: str) -> None:
    messages = tmp_path / "messages"
    messages.mkdir()
    options = {
        "data_folder_in": str(messages),
        "data_folder_out": str(messages),
        "control_folder": str(tmp_path / "control"),
    }
    settings = json.dumps({"broker_transport_options": options})
    worker = farm.worker("w-0", pool=pool, BROKER="filesystem://", SETTINGS=settings)
    worker.says("ready")
    with Celery("sender", broker="filesystem://") as sender:
        sender.conf.broker_transport_options = options
        with farm.fleet.join("eu", "other", keeper="thread") as other, other.slot():
            for name in "abc":
                sender.send_task("celery_app.frame", (name, 0.1))
            for _ in range(4):
                time.sleep(0.5)
                until(lambda: len(list(messages.iterdir())) == 3, "no message is kept by the worker", 2)
    for _ in range(3):
        worker.says("done")
    until(lambda: farm.busy == 0, "the slots are free")
    assert sorted(line.split()[1:3] for line in worker.lines if line.startswith("start")) == [
        ["a", "0"],
        ["b", "0"],
        ["c", "0"],
    ]
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0
    assert not list(messages.iterdir())
