"""What a beater is, whatever it runs in: a thread here, or a process beside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Callable, Protocol

from ..wire.fleets import BeatState, Directive, HeartbeatAnswer
from .held import HeldLease

# Sends one beat, once, within so many seconds.
SendBeat = Callable[[BeatState, "list[str]", float], HeartbeatAnswer]


class BeaterEvents(Protocol):
    """What a beater tells, each from a thread of its own; must neither block nor raise."""

    def lost(self, lease_id: str, reason: str) -> None: ...
    def renewed(self, ids: Iterable[str], sent_at: float) -> None: ...
    def directive(self, directive: Directive) -> None: ...
    def replaced(self) -> None: ...
    def failed(self, error: Exception, failures: int) -> None: ...


class Beater(Protocol):
    """Beats for one pod and renews its leases, until stopped."""

    def hold(self, lease: HeldLease) -> None: ...
    def drop(self, lease_id: str) -> None: ...
    def set_state(self, state: BeatState) -> None: ...

    def wait_ready(self) -> None:
        """Returns once it beats."""

    def check(self) -> None:
        """Judges the deadlines by the clock of this moment."""

    def stop(self) -> None:
        """Sends no beat any more; returns when one under way has ended."""

    def after_fork(self) -> None:
        """Lets go, in a forked child, of what is the parent's."""


@dataclass(frozen=True)
class BeaterStart:
    """How a beater starts: the state, and what the first beat heard with when it was sent (None: nothing yet).

    `timeout` and `next_beat` in seconds, `sent_at` by `clock.now()`.
    """

    state: BeatState
    timeout: float
    next_beat: float | None = None
    sent_at: float = 0.0


class NoBeater:
    """Stands for the beater until there is one."""

    def hold(self, lease: HeldLease) -> None:
        """Nothing is held yet."""

    def drop(self, lease_id: str) -> None:
        """Nothing is held yet."""

    def set_state(self, state: BeatState) -> None:
        """Nobody beats yet."""

    def wait_ready(self) -> None:
        """Nothing to wait for."""

    def check(self) -> None:
        """Nothing is held yet."""

    def stop(self) -> None:
        """Nobody beats yet."""

    def after_fork(self) -> None:
        """Nothing to let go of."""
