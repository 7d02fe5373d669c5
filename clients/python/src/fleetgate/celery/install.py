"""Hooks the gate into an app; a worker of that app joins the fleet when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..client import Client
from ..settings import ON_UNAVAILABLE, seconds
from .setup import Setup
from .steps import ConsumerStep, WorkerStep


def install(
    app: Any,
    fleet: str,
    *,
    cluster: str | None = None,
    pod: str | None = None,
    client: Client | None = None,
    slots: int | None = None,
    labels: Mapping[str, str] | None = None,
    on_unavailable: Literal["open", "closed"] | None = None,
    spare: float = 5.0,
    redeliver_after: float | None = None,
) -> None:
    """Lets the app's workers join `fleet`, each as one pod, and run tasks marked `fleetgate` only with a slot.

    Names, address and key come from the environment where they are not given, `slots` (1…64) is the worker's
    concurrency. `on_unavailable`: go on without slots when the coordinator is out of reach ("open"), or wait
    ("closed"). A slot that came free is kept `spare` seconds for the next task. `redeliver_after`: how many seconds
    after its worker died a running task's message goes back to its queue, by default three quarters of the lease's ttl
    (Redis only). Does nothing but in a worker. Raises ValueError.
    """
    if getattr(app, "fleetgate", None) is not None:
        raise ValueError("fleetgate is installed in this app already")
    if on_unavailable is not None and on_unavailable not in ON_UNAVAILABLE:
        raise ValueError('on_unavailable must be "open" or "closed"')
    app.fleetgate = Setup(
        client,
        fleet,
        cluster,
        pod,
        slots,
        labels,
        on_unavailable,
        seconds("spare", spare),
        None if redeliver_after is None else seconds("redeliver_after", redeliver_after),
    )
    app.steps["worker"].add(WorkerStep)
    app.steps["consumer"].add(ConsumerStep)
