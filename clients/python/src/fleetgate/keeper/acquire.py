"""Waits for a slot: one request id over every try, open or closed when the coordinator is out of reach."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable

from ..backoff import lengthen, retry_delay, shorten
from ..calls.fleets import FleetCalls
from ..clock import now
from ..errors import NotGrantedError, ProblemError, UnavailableError
from ..identity import Identity
from ..ids import new_request_id
from ..transport import Cut
from .couriers import Asking
from .held import HeldLease
from .lease import Grant

# The longest the server waits for one call.
_SERVER_WAIT_S = 25.0


@dataclass(frozen=True)
class Asker:
    """What asking for a slot needs of its pod; durations in seconds."""

    calls: FleetCalls
    identity: Identity
    on_unavailable: str
    unavailable_after: float
    timeout: float
    cut: Cut
    # Renews leases now; when that was sent, and which of them are lost.
    renew: Callable[[list[str]], tuple[float, list[str]]]


@dataclass(frozen=True)
class Wish:
    """What is asked for; `wait` in seconds may be infinite."""

    cls: str | None
    ttl_ms: int | None
    wait: float
    request_id: str | None


class SlotRequest:
    """One logical acquire, made by the thread that wants the slot."""

    def __init__(self, asker: Asker, wish: Wish, asking: Asking) -> None:
        self._asker = asker
        self._wish = wish
        self._asking = asking
        self._ends = now() + wish.wait
        self._start_over()

    def wait(self) -> Grant:
        """Asks until granted, or until the wait ends.

        Raises NotGrantedError, ProblemError, UnavailableError (closed), or what the asking was stopped with.
        """
        while True:
            grant = self._ask()
            if grant is not None:
                return grant

    @property
    def unsure(self) -> bool:
        """Whether a try was sent that may have been granted without our hearing of it."""
        return self._unsure_since is not None

    def give_back(self) -> None:
        """Releases what a call that nobody waits for any more may be granted. Never raises.

        It is heard to its end rather than cut, since the server may go on waiting for a caller that hung up; if it was
        cut, asking again under its id tells.
        """
        try:
            answer: Any = self._heard() or self._asker.calls.acquire(**self._body(), repeat=False)
            if answer["granted"]:
                self._asker.calls.release(leases=[answer["lease"]["id"]], repeat=False)
        except Exception:  # it lapses by its ttl
            return

    def _start_over(self) -> None:
        self.id = self._wish.request_id or new_request_id()
        self._denials = 0
        self._failures = 0
        self._unsure_since: float | None = None
        self._silent_since = math.inf

    def _ask(self) -> Grant | None:
        asker = self._asker
        sent_at = now()
        # Once silence was met a short call tells sooner than a long one whether it is over.
        wait = 0.0 if self._failures else min(shorten(_SERVER_WAIT_S), max(0.0, self._ends - sent_at))
        body = {**self._body(), "wait_ms": round(wait * 1_000)}
        bounds: dict[str, Any] = {
            "timeout": min(asker.timeout, asker.unavailable_after),
            "repeat": False,
            "cut": asker.cut,
        }
        if self._unsure_since is None:
            self._unsure_since = sent_at
        try:
            answer = self._asking.call(lambda: asker.calls.acquire(**body, **bounds))
            if answer["granted"]:
                return self._confirmed(answer["lease"])
        except UnavailableError as error:
            self._asking.raise_if_stopped()
            self._silent_since = min(self._silent_since, now(), sent_at + wait)
            return self._after_silence(error)
        except ProblemError as error:
            ours = self._failures > 0 and self._wish.request_id is None
            if ours and error.code == "request-ended":
                # Granted, ended, and never heard of: only a new id can be granted.
                self._start_over()
                return None
            self._unsure_since = None
            raise
        self._denied(answer["reason"], answer["retry_after_ms"])
        return None

    def _denied(self, reason: str, retry_after_ms: int) -> None:
        self._unsure_since = None
        self._silent_since = math.inf
        self._failures = 0
        self._denials += 1
        pause = lengthen(retry_after_ms / 1_000)
        if now() + pause > self._ends:
            raise NotGrantedError(reason, retry_after_ms)
        self._asking.sleep(pause)

    def _after_silence(self, error: UnavailableError) -> Grant | None:
        self._failures += 1
        is_open = self._asker.on_unavailable == "open"
        patience = self._silent_since + self._asker.unavailable_after
        gives_up = patience if is_open else max(self._ends, patience)
        hint = error.retry_after_ms
        pause = retry_delay(self._failures, None if hint is None else hint / 1_000, gives_up - now())
        if pause is not None:
            self._asking.sleep(pause)
            return None
        if not is_open:
            raise UnavailableError(self._failures, error.detail, error.trace_id, hint) from None
        return Grant(self._wish.cls or "normal", self.id, None)

    def _confirmed(self, lease: dict[str, Any]) -> Grant | None:
        """A lease lives from its grant, known only to lie after the first unheard try; an old one is renewed first."""
        ttl = lease["ttl_ms"] / 1_000
        since = now() if self._unsure_since is None else self._unsure_since
        if now() - since >= ttl / 3:
            try:
                since, lost = self._asking.call(lambda: self._asker.renew([lease["id"]]))
            except UnavailableError as error:
                self._silent_since = min(self._silent_since, now())
                return self._after_silence(error)
            if lost:
                self._start_over()
                return None
        return Grant(lease["class"], self.id, HeldLease(lease["id"], ttl, since + ttl))

    def _heard(self) -> Any:
        """What the last call was answered, None if that was no answer to an acquire."""
        errand = self._asking.errand
        try:
            answer = errand.result() if errand else None
            return answer if isinstance(answer, dict) else None
        except Exception:
            return None

    def _body(self) -> dict[str, Any]:
        return {
            **vars(self._asker.identity),
            "request_id": self.id,
            "attempt": self._denials,
            "cls": self._wish.cls,
            "ttl_ms": self._wish.ttl_ms,
        }
