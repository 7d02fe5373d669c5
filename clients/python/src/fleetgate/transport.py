"""The seam between the client and HTTP: one callable that sends one request once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Callable, Protocol


class TransportError(Exception):
    """No whole answer came; `sent` is False when the request surely never reached the coordinator."""

    def __init__(self, detail: str, sent: bool = True) -> None:
        super().__init__(detail)
        self.sent = sent


class Cut:
    """A way to end a call from another thread; once cut it stays cut."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._close: Callable[[], None] | None = None

    @property
    def is_cut(self) -> bool:
        """Whether it was cut."""
        return self._event.is_set()

    def cut(self) -> None:
        """Ends the call under way, and every later one."""
        self._event.set()
        with self._lock:
            close, self._close = self._close, None
        if close is not None:
            close()

    def wait(self, seconds: float) -> bool:
        """Waits so many seconds, or until cut; True if cut."""
        return self._event.wait(seconds)

    @contextlib.contextmanager
    def bound(self, close: Callable[[], None]) -> Iterator[None]:
        """While inside, cutting calls `close`; raises TransportError when it was cut before."""
        with self._lock:
            self._close = close
        try:
            if self.is_cut:
                raise TransportError("the call was ended here", sent=False)
            yield
        finally:
            with self._lock:
                self._close = None


@dataclass(frozen=True)
class Request:
    """One request, whole. `timeout` in seconds, for all of it; the headers hold the key and are never shown."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)
    timeout: float
    cut: Cut | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Response:
    """One answer, whole; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """Sends a request once, without following redirects; raises TransportError or OSError when no whole answer came."""

    def __call__(self, request: Request) -> Response: ...
