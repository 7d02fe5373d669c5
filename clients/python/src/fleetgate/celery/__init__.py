"""Slots for Celery tasks: `install(app, "render")`, and `fleetgate=True` on the tasks that need one."""

from __future__ import annotations

try:
    import celery as _celery  # noqa: F401
except ImportError as error:
    raise ImportError('fleetgate.celery needs Celery: pip install "fleetgate[celery]"') from error

from .body import current_lease
from .install import install

__all__ = ["current_lease", "install"]
