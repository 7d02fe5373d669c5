"""Who speaks: a pod of a cluster, in one run of its process."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

from .forks import child_suffix
from .ids import process_instance


@dataclass(frozen=True)
class Identity:
    """Cluster, pod and instance, as every call names them."""

    cluster: str
    pod: str
    instance: str


def make_identity(cluster: str | None, pod: str | None, instance: str | None) -> Identity:
    """Fills in FLEETGATE_CLUSTER (else `default`), POD_NAME (else the host's name) and this process's instance.

    A name taken from the environment gets the pid behind it in a forked or `multiprocessing` child, so that siblings
    are pods of their own instead of replacing each other.
    """
    return Identity(
        cluster or os.environ.get("FLEETGATE_CLUSTER") or "default",
        pod or _own_pod(),
        instance or process_instance(),
    )


def child_pod(pod: str) -> str:
    """The name of a child's own pod, whose parent is the pod of this name; at most 253 characters."""
    suffix = f".{os.getpid()}"
    return pod[: 253 - len(suffix)] + suffix


def _own_pod() -> str:
    name = os.environ.get("POD_NAME") or socket.gethostname()
    return name if child_suffix() is None else child_pod(name)
