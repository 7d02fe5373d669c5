"""The client: an address and a key."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .call import Call, CallOptions, holds, query
from .calls.filters import FilterCalls
from .calls.limits import LimitCalls, take_all
from .connection import HttpTransport
from .fleet import Fleet, Joined
from .queue import Queue
from .sender import Sender
from .settings import make_settings
from .transport import Transport
from .wire.fleets import FleetsAnswer
from .wire.limits import LimitsAnswer, Take, TakesAnswer
from .wire.queues import QueuesAnswer

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Client:
    """Speaks to one coordinator; sends nothing by itself. Safe to share between threads and across fork."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 5.0,
        deadline: float = 10.0,
        on_unavailable: str = "open",
        transport: Transport | None = None,
    ) -> None:
        """Address and key default to FLEETGATE_URL and FLEETGATE_KEY.

        `timeout` bounds one try and `deadline` a call with its retries, in seconds. `on_unavailable` is what pods do
        when the coordinator is out of reach (see `fleet.join`). Raises ValueError, which never repeats the key.
        """
        settings = make_settings(
            url or os.environ.get("FLEETGATE_URL"),
            key or os.environ.get("FLEETGATE_KEY"),
            timeout,
            deadline,
            on_unavailable,
        )
        self._send = Sender(settings, transport or HttpTransport())
        self._has_own_transport = transport is not None
        self._joined = Joined()

    @property
    def url(self) -> str:
        """The coordinator's address."""
        return self._send.settings.url

    def fleet(self, name: str) -> Fleet:
        """The calls of one fleet, and the keeper."""
        return Fleet(self._send, name, self._joined, self._has_own_transport)

    def queue(self, name: str) -> Queue:
        """The calls of one queue, and the worker."""
        return Queue(self._send, name, self.fleet)

    def limit(self, name: str) -> LimitCalls:
        """The calls of one limit."""
        return LimitCalls(self._send, name)

    def filter(self, name: str) -> FilterCalls:
        """The calls of one filter."""
        return FilterCalls(self._send, name)

    def fleets(self, **options: Unpack[CallOptions]) -> FleetsAnswer:
        """Every fleet the key may see, with its counts."""
        call = Call[FleetsAnswer]("GET", "/v1/fleets", holds(fleets=list))
        return self._send(call, **options)

    def queues(self, *, fleet: str | None = None, **options: Unpack[CallOptions]) -> QueuesAnswer:
        """Every queue the key may see, or those of one fleet, with counts and configuration; 200 at most."""
        call = Call[QueuesAnswer]("GET", f"/v1/queues{query(fleet=fleet)}", holds(queues=list))
        return self._send(call, **options)

    def limits(self, **options: Unpack[CallOptions]) -> LimitsAnswer:
        """Every limit heard of in the last 24 hours, with its rules and the level of its key `default`."""
        call = Call[LimitsAnswer]("GET", "/v1/limits", holds(limits=list))
        return self._send(call, **options)

    def take(
        self,
        takes: Sequence[Take],
        *,
        request_id: str | None = None,
        **options: Unpack[CallOptions],
    ) -> TakesAnswer:
        """Takes of up to 10 limits, all or none; a missing `request_id` is made here."""
        return take_all(self._send, takes, request_id, options)

    def __repr__(self) -> str:
        return f"<Client {self.url}>"
