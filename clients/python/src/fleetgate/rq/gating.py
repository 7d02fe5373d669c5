"""How a worker takes part in a fleet: given in code, else by the environment."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Optional, cast

from rq.job import Job

from ..client import Client
from ..identity import child_pod
from ..keeper.pod import Pod
from ..settings import ON_UNAVAILABLE, seconds

# The entry of a job's `meta` that names its class.
CLASS_IN_META = "fleetgate_class"


@dataclass(frozen=True)
class Gating:
    """What is None comes from the environment variable named; durations are seconds.

    - `fleet`: FLEETGATE_FLEET.
    - `cls`: the class of jobs, FLEETGATE_CLASS, else `normal`; `classes`: that of some queues' jobs, FLEETGATE_CLASSES
      as `urgent=high,batch=normal`. A job with `meta={"fleetgate_class": "high"}` says its own.
    - `cluster`: FLEETGATE_CLUSTER, else `default`.
    - `pod`: POD_NAME, else the host's name and the process id, since several workers on a host are usual.
    - `slots`: how many places the worker counts for; it runs one job at a time.
    - `client`: address and key, FLEETGATE_URL and FLEETGATE_KEY.
    - `on_unavailable`: "open" or "closed", FLEETGATE_ON_UNAVAILABLE, else the client's.
    - `unavailable_after`: how long the coordinator may be out of reach before that counts.
    - `grace`: how long a job may go on after the first SIGTERM, FLEETGATE_GRACE, else without end.
    - `lost_grace`: how long a job that lost its slot may go on before its process is killed; None: without end.
    - `max_deliveries`: how many workers a job may take down before RQ's rule for abandoned jobs applies to it.
    """

    fleet: str | None = None
    cls: str | None = None
    classes: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    pod: str | None = None
    slots: int = 1
    client: Client | None = None
    on_unavailable: Literal["open", "closed"] | None = None
    unavailable_after: float = 3.0
    grace: float | None = None
    lost_grace: float | None = 10.0
    max_deliveries: int = 5

    def resolved(self) -> Gating:
        """The same, complete; raises ValueError for what is missing or wrong."""
        fleet = self.fleet or os.environ.get("FLEETGATE_FLEET")
        if not fleet:
            raise ValueError("no fleet: set FLEETGATE_FLEET or give Gating(fleet=…)")
        on_unavailable = self.on_unavailable or os.environ.get("FLEETGATE_ON_UNAVAILABLE")
        if on_unavailable not in (None, *ON_UNAVAILABLE):
            raise ValueError('FLEETGATE_ON_UNAVAILABLE must be "open" or "closed"')
        if self.max_deliveries < 1:
            raise ValueError("max_deliveries must be 1 or more")
        grace = _grace() if self.grace is None else self.grace
        return replace(
            self,
            fleet=fleet,
            cls=self.cls or os.environ.get("FLEETGATE_CLASS") or "normal",
            classes=self.classes or _classes(os.environ.get("FLEETGATE_CLASSES", "")),
            pod=self.pod or (None if os.environ.get("POD_NAME") else child_pod(socket.gethostname())),
            client=self.client or Client(),
            on_unavailable=cast(Optional[Literal["open", "closed"]], on_unavailable),
            grace=None if grace is None else seconds("grace", grace),
            lost_grace=None if self.lost_grace is None else seconds("lost_grace", self.lost_grace),
        )

    def join(self) -> Pod:
        """Joins the fleet; for a Gating that is resolved. Raises as `fleet.join()` does."""
        assert self.client is not None and self.fleet is not None
        return self.client.fleet(self.fleet).join(
            self.cluster,
            self.pod,
            slots=self.slots,
            on_unavailable=self.on_unavailable,
            unavailable_after=self.unavailable_after,
        )

    def class_of(self, job: Job) -> str:
        """The class of the slot that a job needs; for a Gating that is resolved."""
        own = job.meta.get(CLASS_IN_META) if isinstance(job.meta, dict) else None
        return str(own or self.classes.get(job.origin) or self.cls)


def _classes(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    if not all(queue.strip() and cls.strip() for queue, _, cls in pairs):
        raise ValueError("FLEETGATE_CLASSES must look like urgent=high,batch=normal")
    return {queue.strip(): cls.strip() for queue, _, cls in pairs}


def _grace() -> float | None:
    text = os.environ.get("FLEETGATE_GRACE")
    try:
        return float(text) if text else None
    except ValueError:
        raise ValueError("FLEETGATE_GRACE must be seconds, 0 or more") from None
