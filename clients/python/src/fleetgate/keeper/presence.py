"""A pod in the count, from its first beat on: a signal may come at any moment, and must not leave half of it behind."""

from __future__ import annotations

import threading
from typing import Literal

from ..errors import FleetgateError, ProblemError
from ..wire.fleets import Directive
from .beats import Beater, BeaterEvents, NoBeater
from .couriers import Asking, Couriers
from .options import Joining, start_beater

# How leaving ended; `unconfirmed` means the pod and its leases lapse by their ttl.
LeaveOutcome = Literal["left", "replaced", "unconfirmed"]
# How long an end waits for the answer to the first beat, and how long its late undoing may take, in seconds.
_FIRST_S = 5.0
_LATE_S = 5.0


class Presence:
    """Begins once. `end()` may come at any time after, from any thread, and again when it was interrupted."""

    def __init__(self, joining: Joining, couriers: Couriers, events: BeaterEvents) -> None:
        self.beater: Beater = NoBeater()
        self._joining = joining
        self._couriers = couriers
        self._events = events
        self._lock = threading.Lock()
        self._begun = threading.Event()
        self._ended = False
        # The coordinator said no, so there is nothing to leave.
        self._refused = False

    def begin(self) -> Directive:
        """Sends the first beat and starts the others; what the operator asks for.

        Raises ProblemError, or UnavailableError when closed. Whatever is raised, `end()` and `leave()` are to follow:
        it may have come from a signal.
        """
        directive: Directive = Asking(self._couriers).call(self._begin)
        self.beater.wait_ready()
        return directive

    def end(self, deadline: float | None) -> None:
        """Ends the beats: none comes after this, the first one neither if it is answered within `deadline` seconds."""
        self._begun.wait(_FIRST_S if deadline is None else deadline)
        with self._lock:
            self._ended = True
        self.beater.stop()

    def leave(self, deadline: float | None) -> LeaveOutcome:
        """After `end()`: takes the pod out of the count, within `deadline` seconds."""
        if self._refused:
            return "left"
        try:
            self._joining.leave(deadline)
        except FleetgateError:
            return "unconfirmed"
        return "left"

    def _begin(self) -> Directive:
        """In a thread that no signal interrupts."""
        try:
            first = self._joining.first_beat()
            with self._lock:
                if not self._ended:
                    self.beater = start_beater(self._joining, first.begin, self._events)
                    return first.directive
        except ProblemError as error:
            self._refused = error.status < 500
            raise
        finally:
            self._begun.set()
        # The end did not wait for it, so the beat may have been counted after the pod had left.
        self.leave(_LATE_S)
        return first.directive
