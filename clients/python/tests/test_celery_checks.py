"""What a Celery worker is told of its settings when it starts, and where it does not start at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from support.farm import Farm, advice_of
from support.program import SOURCE
from support.until import until

from fleetgate.celery import current_lease, install

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE)}


def advice(farm: Farm, pool: str = "prefork", **settings: object) -> list[str]:
    worker = farm.worker("w-0", pool=pool, SETTINGS=json.dumps(settings))
    worker.says("ready")
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 0
    return advice_of(worker)


def test_good_settings_are_not_told_off(farm: Farm) -> None:
    assert advice(farm) == []


def test_celerys_defaults_are_told_off_in_one_line_each(farm: Farm) -> None:
    lines = advice(
        farm,
        worker_prefetch_multiplier=4,
        task_acks_late=False,
        task_reject_on_worker_lost=None,
        task_time_limit=None,
    )
    prefetch, early, limits = lines
    assert prefetch.endswith("set worker_prefetch_multiplier=1")
    assert early.startswith("celery_app.again, celery_app.broken, celery_app.frame and 5 more: ")
    assert "task_acks_late=True and task_reject_on_worker_lost=True" in early
    assert "set task_time_limit (and task_soft_time_limit somewhat below it)" in limits


def test_a_visibility_timeout_below_the_limit_of_tasks_that_it_bears_on_is_told_off(farm: Farm) -> None:
    [line] = advice(farm, task_time_limit=7_200)
    assert line.startswith("visibility_timeout is 3600 s, shorter than a time limit of 7200 s")
    assert line.endswith("set broker_transport_options={'visibility_timeout': 7260}")


def test_a_pool_without_time_limits_is_told_off(farm: Farm) -> None:
    [line] = advice(farm, pool="solo")
    assert line.startswith("the solo pool enforces no time limit")


def test_green_pools_are_refused_in_one_line(farm: Farm) -> None:
    worker = farm.worker("w-0", pool="custom", CELERY_CUSTOM_WORKER_POOL="green:TaskPool")
    assert worker.ends(30) == 78
    assert "fleetgate does not support the green pool: start the worker with --pool prefork" in worker.errors
    assert "Traceback" not in worker.errors


def test_a_mark_that_says_nothing_is_refused_in_one_line(farm: Farm) -> None:
    worker = farm.worker("w-0", MARK="5")
    assert worker.ends(30) == 78
    assert (
        "celery_app.marked: fleetgate= must be True, or the name of a class such as 'high'" in worker.errors
    )
    assert "Traceback" not in worker.errors


def test_a_wrong_key_is_told_in_one_line(farm: Farm) -> None:
    worker = farm.worker("w-0", FLEETGATE_KEY="wrong")
    assert worker.ends(30) == 78
    assert "CRITICAL:fleetgate:cannot join the fleet: " in worker.errors
    assert "Traceback" not in worker.errors


def test_a_class_that_the_fleet_does_not_have_is_told_and_its_queue_rests(farm: Farm) -> None:
    worker = farm.worker("w-0")
    worker.says("ready")
    farm.send("misspelt")
    until(lambda: "no slot of class misspelt is given, will ask again in 10 s" in worker.errors, "it is told")
    time.sleep(2)
    assert (farm.queued, farm.unacked) == (1, 0)
    assert worker.errors.count("is given, will ask again") == 1


def test_a_second_worker_of_the_same_name_is_told_of(farm: Farm) -> None:
    first = farm.worker("w-0")
    first.says("ready")
    farm.worker("w-0", "-n", "other").says("ready")
    until(
        lambda: "give each worker a name of its own" in first.errors, "the first hears that it was replaced"
    )


def test_outside_a_worker_a_task_runs_without_a_slot() -> None:
    lease = current_lease()
    lease.check()
    assert (lease.degraded, lease.lost.is_set(), lease.reason) == (True, False, None)


def test_install_checks_what_it_is_given(farm: Farm) -> None:
    with pytest.raises(ValueError, match='on_unavailable must be "open" or "closed"'):
        install(farm.app, "render", on_unavailable="maybe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="spare must be seconds"):
        install(farm.app, "render", spare=-1)
    install(farm.app, "render")
    with pytest.raises(ValueError, match="installed in this app already"):
        install(farm.app, "render")


def test_without_celery_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['celery'] = None; import fleetgate; import fleetgate.celery"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=ENVIRONMENT)
    assert ended.stderr.endswith(
        'ImportError: fleetgate.celery needs Celery: pip install "fleetgate[celery]"\n'
    )


def test_fleetgate_itself_does_not_import_celery() -> None:
    program = "import sys, fleetgate; assert 'celery' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, env=ENVIRONMENT)
