"""The one door to the coordinator: repeats a call that got no usable answer, until the call's deadline."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import Any

from .answer import Answered, Failed, judge
from .backoff import retry_delay
from .call import Answer, Call
from .clock import now
from .connection import HttpTransport, Opened
from .errors import UnavailableError, UnsupportedError
from .jsontext import encode
from .settings import Settings
from .transport import Cut, Request, Transport, TransportError


class Sender:
    """Sends calls with retries; every method that takes CallOptions hands them here."""

    def __init__(self, settings: Settings, transport: Transport) -> None:
        self.settings = settings
        self._transport = transport

    def __call__(
        self,
        call: Call[Answer],
        *,
        deadline: float | None = None,
        timeout: float | None = None,
        repeat: bool = True,
        cut: Cut | None = None,
    ) -> Answer:
        """Gives the answer; raises ProblemError, or UnavailableError once `deadline` seconds have passed."""
        held = call.wait_ms / 1_000
        ends = now() + held + (self.settings.deadline if deadline is None else deadline)
        bound = held + (self.settings.timeout if timeout is None else timeout)
        body = None if call.body is None else encode(call.body)
        attempts = 0
        while True:
            attempts += 1
            outcome = self._once(call, body, min(bound, max(0.001, ends - now())), cut)
            if isinstance(outcome, Answered):
                body_of: Answer = outcome.body
                return body_of
            hint = outcome.retry_after_ms
            pause = retry_delay(attempts, None if hint is None else hint / 1_000, ends - now())
            may = repeat and (call.repeatable or not outcome.sent) and not (cut and cut.is_cut)
            if not may or pause is None:
                raise UnavailableError(attempts, outcome.detail, outcome.trace_id, hint)
            if cut is None:
                time.sleep(pause)
            else:
                cut.wait(pause)

    def _once(
        self, call: Call[Any], body: bytes | None, timeout: float, cut: Cut | None
    ) -> Answered | Failed:
        more = {} if body is None else {"content-type": "application/json"}
        try:
            response = self._transport(self._request(call.method, call.path, body, timeout, cut, more))
        except (TransportError, OSError) as error:
            return Failed(self.words(error), sent=getattr(error, "sent", True))
        return judge(call, response)

    def must_stream(self) -> HttpTransport:
        """The transport, if it can read an answer as it comes; raises UnsupportedError."""
        if not isinstance(self._transport, HttpTransport):
            raise UnsupportedError("events cannot use the client's own transport")
        return self._transport

    def stream(self, path: str, last_event_id: str | None, cut: Cut) -> AbstractContextManager[Opened]:
        """Opens a stream of server-sent events."""
        more = {"accept": "text/event-stream"}
        if last_event_id is not None:
            more["last-event-id"] = last_event_id
        return self.must_stream().stream(self._request("GET", path, None, self.settings.timeout, cut, more))

    def words(self, error: Exception) -> str:
        """What an error says, without the key."""
        return str(error).replace(self.settings.key, "[key]")

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None,
        timeout: float,
        cut: Cut | None,
        more: dict[str, str],
    ) -> Request:
        headers = {"authorization": f"Bearer {self.settings.key}", "accept": "application/json", **more}
        return Request(method, self.settings.url + path, headers, body, timeout, cut)
