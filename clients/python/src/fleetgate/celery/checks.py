"""Looks at a worker's settings when it starts: what is wrong for tasks that hold a slot for long, and what to set."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from billiard import get_start_method
from celery.concurrency.prefork import TaskPool as PreforkPool

# Of Kombu's Redis transport, and of RabbitMQ's consumer_timeout, in seconds.
_VISIBILITY_TIMEOUT_S = 3_600
_CONSUMER_TIMEOUT_S = 1_800


def unsupported(worker: Any) -> str | None:
    """Why the gate cannot stand in this worker."""
    name = worker.pool_cls.__module__.rpartition(".")[2]
    if getattr(worker.pool_cls, "is_green", False) or name in ("gevent", "eventlet"):
        return f"fleetgate does not support the {name} pool: start the worker with --pool prefork, threads or solo"
    if issubclass(worker.pool_cls, PreforkPool) and _spawns(worker):
        return "fleetgate needs the pool's processes to be forked: set worker_pool_start_method='fork'"
    return None


def advice(worker: Any, tasks: list[Any]) -> Iterator[str]:
    """One line for each setting that is wrong for the marked tasks."""
    conf = worker.app.conf
    if not tasks:
        yield "no task is marked: give those that need a slot fleetgate=True, as in @app.task(fleetgate=True)"
        return
    if worker.prefetch_multiplier != 1:
        yield (
            f"worker_prefetch_multiplier is {worker.prefetch_multiplier}: this worker keeps other tasks' messages "
            "while it has no room for them; set worker_prefetch_multiplier=1"
        )
    early = [task.name for task in tasks if not (task.acks_late and task.reject_on_worker_lost)]
    if early:
        yield (
            f"{_names(early)}: acknowledged late whatever your settings say, since a killed worker would lose the "
            "task; set task_acks_late=True and task_reject_on_worker_lost=True"
        )
    yield from _of_limits(worker, tasks)
    yield from _of_broker(worker, tasks)
    if os.environ.get("REMAP_SIGTERM") == "SIGQUIT" and not getattr(conf, "worker_soft_shutdown_timeout", 0):
        yield (
            "REMAP_SIGTERM=SIGQUIT without worker_soft_shutdown_timeout: SIGTERM cuts tasks off at once; set it to "
            "the seconds they may take, less than the pod's terminationGracePeriodSeconds"
        )


def _of_limits(worker: Any, tasks: list[Any]) -> Iterator[str]:
    if not issubclass(worker.pool_cls, PreforkPool):
        name = worker.pool_cls.__module__.rpartition(".")[2]
        yield f"the {name} pool enforces no time limit: a task that hangs keeps its slot; use --pool prefork"
        return
    endless = [task.name for task in tasks if not (task.time_limit or worker.time_limit)]
    if endless:
        yield (
            f"{_names(endless)}: without a time limit a task that hangs keeps its slot; set task_time_limit (and "
            "task_soft_time_limit somewhat below it), or time_limit of the task"
        )


def _of_broker(worker: Any, tasks: list[Any]) -> Iterator[str]:
    conf, kind = worker.app.conf, worker._conninfo.transport.driver_type
    visibility = (conf.broker_transport_options or {}).get("visibility_timeout", _VISIBILITY_TIMEOUT_S)
    if kind == "redis":
        # Marked tasks' messages are renewed while they run; the others' are not.
        others = [task for task in worker.app.tasks.values() if task.acks_late and task not in tasks]
        longest = _longest(worker, others)
        if longest > visibility:
            yield _too_short(visibility, longest)
    elif kind == "amqp":
        longest = _longest(worker, tasks)
        if longest >= _CONSUMER_TIMEOUT_S or any(
            not (task.time_limit or worker.time_limit) for task in tasks
        ):
            yield (
                f"RabbitMQ closes a channel whose message is not acknowledged for {_CONSUMER_TIMEOUT_S} s: set its "
                f"consumer_timeout above {longest or 'the longest task'}{' s' if longest else ''}"
            )
        if not conf.worker_cancel_long_running_tasks_on_connection_loss:
            yield (
                "a lost connection to the broker makes it deliver running tasks' messages again, so they would run "
                "twice; set worker_cancel_long_running_tasks_on_connection_loss=True"
            )
    elif "visibility_timeout" in (conf.broker_transport_options or {}):
        longest = _longest(worker, tasks)
        if longest > visibility:
            yield _too_short(visibility, longest)


def _too_short(visibility: float, longest: float) -> str:
    return (
        f"visibility_timeout is {visibility:g} s, shorter than a time limit of {longest:g} s, so such a task would "
        f"run twice; set broker_transport_options={{'visibility_timeout': {longest + 60:g}}}"
    )


def _longest(worker: Any, tasks: list[Any]) -> float:
    return max((task.time_limit or worker.time_limit or 0 for task in tasks), default=0)


def _names(tasks: list[str]) -> str:
    return ", ".join(tasks[:3]) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")


def _spawns(worker: Any) -> bool:
    return getattr(worker, "pool_start_method", "fork") != "fork" or get_start_method() != "fork"
