"""What `install()` was given, and which tasks bear the mark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..client import Client

# The attribute that marks a task: True (class `normal`) or the name of a class.
MARK = "fleetgate"


@dataclass(frozen=True)
class Setup:
    """How a worker joins and takes slots; durations in seconds."""

    client: Client | None
    fleet: str
    cluster: str | None
    pod: str | None
    slots: int | None
    labels: Mapping[str, str] | None
    on_unavailable: Literal["open", "closed"] | None
    spare: float
    redeliver_after: float | None


def class_of(task: Any) -> str | None:
    """The class whose slot a task needs, None when it is not marked."""
    mark = getattr(task, MARK, None)
    if mark is True:
        return "normal"
    return mark if isinstance(mark, str) and mark else None


def wrong_marks(app: Any) -> list[str]:
    """The names of tasks whose mark says nothing."""
    marks = {name: getattr(task, MARK, None) for name, task in app.tasks.items()}
    return sorted(name for name, mark in marks.items() if not (mark is None or isinstance(mark, (bool, str))))


def marked_tasks(app: Any) -> list[Any]:
    """Every marked task of an app, by name."""
    return [task for _, task in sorted(app.tasks.items()) if class_of(task) is not None]
