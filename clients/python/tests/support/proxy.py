"""A door before the coordinator that can be shut or held: connections are then closed at once, or get no further."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from urllib.parse import urlsplit


class Proxy:
    """Passes bytes on while open; `refused` has the time of each connection that came while shut.

    `late`: how many seconds each of the next connections waits before what it asks is passed on.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or "", parts.port or 80)
        self._open = True
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self.refused: list[float] = []
        self.late: list[float] = []
        self._goes = threading.Event()
        self._goes.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def shut(self) -> None:
        """From now on nothing passes."""
        with self._lock:
            self._open = False
            held, self._sockets = self._sockets, set()
        for one in held:
            _end(one)

    def open(self) -> None:
        """From now on everything passes."""
        self._open = True

    def hold(self) -> None:
        """From now on nothing that is asked is passed on, until `go_on()`."""
        self._goes.clear()

    def go_on(self) -> None:
        """Passes on what was held."""
        self._goes.set()

    @property
    def passing(self) -> int:
        """How many sockets are open, two for each connection that passes."""
        with self._lock:
            return len(self._sockets)

    def close(self) -> None:
        self.shut()
        self.go_on()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if not self._open:
                self.refused.append(time.monotonic())
                near.close()
                continue
            far = socket.create_connection(self._target)
            with self._lock:
                self._sockets |= {near, far}
            late = self.late.pop(0) if self.late else 0.0
            for source, sink, wait in ((near, far, late), (far, near, None)):
                threading.Thread(target=self._pump, args=(source, sink, wait), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, wait: float | None) -> None:
        with contextlib.suppress(OSError):
            while True:
                part = source.recv(65_536)
                if not part:
                    break
                if wait is not None:
                    time.sleep(wait)
                    self._goes.wait()
                    wait = 0.0
                sink.sendall(part)
        for one in (source, sink):
            _end(one)
            with self._lock:
                self._sockets.discard(one)


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
