"""Server-sent events: heard over as many streams as it takes, each event told once."""

from __future__ import annotations

import codecs
import http.client
import json
import math
from collections.abc import Generator, Iterable, Iterator
from typing import Any

from .answer import Answered, Failed, judge
from .backoff import retry_delay
from .call import Call
from .clock import now
from .errors import UnavailableError
from .sender import Sender
from .transport import Cut, Response, TransportError
from .wire.operate import FleetEvent

_RECONNECT_S = 1.0
Message = dict[str, str]


def follow(
    send: Sender, path: str, last_event_id: str | None, deadline: float | None, cut: Cut
) -> Generator[FleetEvent, None, None]:
    """Comes back until cut; raises ProblemError, or UnavailableError after `deadline` seconds out of reach."""
    send.must_stream()
    return _follow(send, path, _Place(last_event_id), math.inf if deadline is None else deadline, cut)


def _follow(
    send: Sender, path: str, place: _Place, deadline: float, cut: Cut
) -> Generator[FleetEvent, None, None]:
    failures = 0
    heard_at = now()
    while not cut.is_cut:
        place.heard = False
        failed = yield from _listen(send, path, place, cut)
        failures = 0 if place.heard else failures + 1
        heard_at = now() if place.heard else heard_at
        hint = None if failed.retry_after_ms is None else failed.retry_after_ms / 1_000
        pause = place.retry if place.heard else retry_delay(failures, hint, heard_at + deadline - now())
        if pause is None:
            raise UnavailableError(failures, failed.detail, failed.trace_id, failed.retry_after_ms)
        cut.wait(pause)


class _Place:
    """How far it has come: the last id, and what was told since then, which comes again after a break."""

    def __init__(self, last_id: str | None) -> None:
        self.last_id = last_id
        self.retry = _RECONNECT_S
        self.heard = False
        self._told: set[tuple[str | None, str]] = set()

    def take(self, message: Message) -> Any:
        """Takes a message's id to heart; the event that it tells, unless it was told before."""
        self.heard = True
        if "retry" in message:
            self.retry = int(message["retry"]) / 1_000
        data = message.get("data")
        told = (message.get("event"), data or "")
        is_new = data is not None and told not in self._told
        if "id" in message:
            self.last_id = message["id"]
            self._told.clear()
        elif data is not None:
            self._told.add(told)
        return {"event": message.get("event"), **json.loads(data)} if data is not None and is_new else None


def _listen(send: Sender, path: str, place: _Place, cut: Cut) -> Generator[FleetEvent, None, Failed]:
    """Tells what one stream has to tell; how it ended."""
    try:
        with send.stream(path, place.last_id, cut) as opened:
            if isinstance(opened, Response):
                outcome = judge(Call[Any]("GET", path, lambda _: False), opened)
                assert not isinstance(outcome, Answered)
                return outcome
            for message in _messages(opened):
                event = place.take(message)
                if event is not None:
                    yield event
    except (TransportError, OSError, http.client.HTTPException, ValueError) as error:
        return Failed(send.words(error))
    return Failed("the stream ended")


def _messages(parts: Iterable[bytes]) -> Iterator[Message]:
    """Messages with those of their fields that were sent; one that was cut off is none."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    for part in parts:
        *whole, rest = (rest + decoder.decode(part)).split("\n\n")
        for text in whole:
            lines = (line.partition(":") for line in text.split("\n"))
            yield {name: value.removeprefix(" ") for name, _, value in lines if name}
