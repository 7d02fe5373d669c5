"""The lease of the job that runs in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Union

from ..keeper.lease import Lease
from ..keeper.lost import LeaseView
from ..keeper.shared import without_slot
from .spawned import SpawnedLease

JobLease = Union[Lease, SpawnedLease]
# One worker process runs one job; its threads may ask too.
_current: JobLease | None = None


def current_lease() -> LeaseView:
    """The slot of the job that is running, for its `lost`, `check()` and `on_lost()`.

    Outside a gated worker it is a degraded one that is never lost.
    """
    return _current or without_slot()


@contextlib.contextmanager
def running_under(lease: JobLease) -> Iterator[None]:
    """What runs inside finds `lease` in `current_lease()`."""
    global _current
    _current = lease
    try:
        yield
    finally:
        _current = None
