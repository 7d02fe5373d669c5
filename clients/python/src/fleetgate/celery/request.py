"""A marked task's message in the worker, from its slot to its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

from celery.utils.imports import symbol_by_name
from celery.worker.request import Request

from ..keeper.lease import Lease
from .body import TOKEN
from .unacked import OwnMessage


@dataclass(eq=False)
class Slot:
    """What a running request holds: its lease, and its message where the broker's Redis keeps it."""

    lease: Lease
    message: OwnMessage | None
    # Called when the task has ended, one way or another; may be called again.
    on_end: Callable[[Slot], None]


class GatedRequest(Request):  # type: ignore[misc]
    """Celery's own request, which also gives its slot back at each of its ends."""

    slot: Slot | None = None

    def begin(self, slot: Slot) -> None:
        """It runs from now on, under this slot's lease."""
        self.slot = slot
        self.delivery_info[TOKEN] = list(slot.lease.share())

    def acknowledge(self) -> None:
        """The message is done with, and so is the task."""
        own = self._own_message()
        if own is None:
            super().acknowledge()
        else:
            own.finish()
        self._end()

    def reject(self, requeue: bool = False) -> None:
        """The message goes back to its queue, or is dropped."""
        own = self._own_message()
        if own is None:
            super().reject(requeue)
        else:
            if requeue:
                own.give_back()
            else:
                own.finish()
            self.send_event("task-rejected", requeue=requeue)
        self._end()

    def on_failure(self, *args: Any, **kwargs: Any) -> None:
        """The task raised, or its process died."""
        try:
            super().on_failure(*args, **kwargs)
        finally:
            # Still to do where a shutdown cancelled it: Celery leaves that to the end of the connection.
            self.reject(requeue=True)

    def cancel(self, pool: Any, *args: Any, **kwargs: Any) -> None:
        """A cold shutdown, or a lost connection to the broker, ends the task."""
        try:
            super().cancel(pool, *args, **kwargs)
        except NotImplementedError:
            # A thread cannot be killed: the task is told by its lease, and another worker begins it anew.
            if self.slot is not None:
                self.slot.lease.lose("left")
            self.reject(requeue=True)

    def _own_message(self) -> OwnMessage | None:
        return None if self.slot is None or self.acknowledged else self.slot.message

    def _end(self) -> None:
        self.acknowledged = True
        if self.slot is not None:
            self.slot.on_end(self.slot)


def gated(request_class: Any) -> Any:
    """A task's own class of requests (or its name), as a GatedRequest."""
    base = symbol_by_name(request_class)
    return base if issubclass(base, GatedRequest) else type("GatedRequest", (GatedRequest, base), {})
