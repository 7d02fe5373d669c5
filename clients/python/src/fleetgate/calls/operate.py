"""The calls of section Operate of the wire contract, bound to one fleet or one queue."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from ..call import Call, CallOptions, holds, query, segment
from ..events import follow
from ..sender import Sender
from ..transport import Cut
from ..wire import operate as wire

if TYPE_CHECKING:
    from typing_extensions import Unpack


class FleetOperateCalls:
    """What operators and scalers ask of one fleet."""

    name: str
    _send: Sender

    def scale(
        self, *, cls: str | None = None, spare: int | None = None, **options: Unpack[CallOptions]
    ) -> wire.FleetScale:
        """What to scale the fleet by: `wanted` is how many pods hold what is busy, and `spare` slots more."""
        path = f"/v1/scale/fleets/{segment(self.name)}{query(**{'class': cls}, spare=spare)}"
        return self._send(Call[wire.FleetScale]("GET", path, holds(wanted=float)), **options)

    def idle(self, *, limit: int | None = None, **options: Unpack[CallOptions]) -> wire.IdleAnswer:
        """The pods that hold nothing, longest idle first: those to remove first."""
        path = f"/v1/fleets/{segment(self.name)}/idle{query(limit=limit)}"
        return self._send(Call[wire.IdleAnswer]("GET", path, holds(pods=list)), **options)

    def history(self, *, span: wire.Span | None = None, **options: Unpack[CallOptions]) -> wire.FleetHistory:
        """What the fleet was in the last hour (the default), day or month."""
        path = f"/v1/fleets/{segment(self.name)}/history{query(span=span)}"
        call = Call[wire.FleetHistory]("GET", path, holds(step_ms=float, samples=list))
        return self._send(call, **options)

    def events(
        self, *, last_event_id: str | None = None, deadline: float | None = None, cut: Cut | None = None
    ) -> Generator[wire.FleetEvent, None, None]:
        """What happens to the fleet, as it happens, on a connection of its own.

        Comes back by itself after a break, and tells no event twice. Ends when `cut` is; leaving the loop hangs up.
        Raises ProblemError, UnavailableError after `deadline` seconds out of reach (by default never), and
        UnsupportedError with a transport of the client's own.
        """
        path = f"/v1/fleets/{segment(self.name)}/events"
        return follow(self._send, path, last_event_id, deadline, cut or Cut())


class QueueOperateCalls:
    """What operators and scalers ask of one queue."""

    name: str
    _send: Sender

    def scale(
        self, *, cls: str | None = None, spare: int | None = None, **options: Unpack[CallOptions]
    ) -> wire.QueueScale:
        """What to scale by: `wanted` is how many pods hold the backlog, and `spare` slots more."""
        path = f"/v1/scale/queues/{segment(self.name)}{query(**{'class': cls}, spare=spare)}"
        return self._send(Call[wire.QueueScale]("GET", path, holds(wanted=float)), **options)

    def history(self, *, span: wire.Span | None = None, **options: Unpack[CallOptions]) -> wire.QueueHistory:
        """What the queue was in the last hour (the default), day or month."""
        path = f"/v1/queues/{segment(self.name)}/history{query(span=span)}"
        call = Call[wire.QueueHistory]("GET", path, holds(step_ms=float, samples=list))
        return self._send(call, **options)
