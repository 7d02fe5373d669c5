"""How a pod joins: its options, its first beat, and what its keeper runs in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Literal

from ..calls.fleets import FleetCalls
from ..clock import now
from ..errors import UnavailableError
from ..identity import Identity
from ..settings import Settings
from ..wire.fleets import BeatState, Directive, HeartbeatAnswer
from .beater import ThreadBeater
from .beats import Beater, BeaterEvents, BeaterStart
from .spawn import can_spawn

if TYPE_CHECKING:
    from .pod import Pod

Keeper = Literal["process", "thread"]


@dataclass(frozen=True)
class JoinOptions:
    """How a pod and its keeper behave; durations in seconds."""

    slots: int | None
    labels: Mapping[str, str] | None
    state: Literal["ready", "starting"]
    keeper: Keeper
    unavailable_after: float
    handle_signals: bool
    grace: float | None
    on_drain: Callable[[Pod], None] | None
    on_replaced: Callable[[Pod], None] | None
    on_beat_error: Callable[[Exception, int], None] | None


@dataclass(frozen=True)
class FirstBeat:
    """What the first beat heard."""

    begin: BeaterStart
    directive: Directive


@dataclass(frozen=True)
class Joining:
    """Which fleet is joined, as whom, and how it is reached."""

    calls: FleetCalls
    settings: Settings
    identity: Identity
    on_unavailable: str
    options: JoinOptions

    @property
    def body(self) -> dict[str, Any]:
        """What each beat says besides the state and the leases."""
        said = {**vars(self.identity), "slots": self.options.slots, "labels": self.options.labels}
        return {name: value for name, value in said.items() if value is not None}

    def beat(self, state: BeatState, leases: list[str], timeout: float | None) -> HeartbeatAnswer:
        """Sends one beat, once: the beater itself tries again."""
        return self.calls.heartbeat(**self.body, state=state, leases=leases, timeout=timeout, repeat=False)

    def leave(self, deadline: float | None) -> None:
        """Takes the pod out of the count; raises as any call."""
        self.calls.leave(**vars(self.identity), deadline=deadline)

    def first_beat(self) -> FirstBeat:
        """Sends the first beat; raises ProblemError, or UnavailableError when closed."""
        state, timeout = self.options.state, self.settings.timeout
        sent_at = now()
        try:
            answer = self.calls.heartbeat(**self.body, state=state, deadline=self.options.unavailable_after)
        except UnavailableError:
            if self.on_unavailable == "closed":
                raise
            return FirstBeat(BeaterStart(state, timeout), "run")
        begin = BeaterStart(state, timeout, answer["next_heartbeat_ms"] / 1_000, sent_at)
        return FirstBeat(begin, answer["directive"])


def start_beater(joining: Joining, begin: BeaterStart, events: BeaterEvents) -> Beater:
    """Starts the beats, in a process beside this one where that is wanted and possible."""
    if joining.options.keeper == "thread" or not can_spawn():
        return ThreadBeater(joining.beat, begin, events)
    from .child import ProcessBeater

    start = {
        "url": joining.settings.url,
        "key": joining.settings.key,
        "fleet": joining.calls.name,
        "body": joining.body,
    }
    return ProcessBeater(start, joining.beat, begin, events)
