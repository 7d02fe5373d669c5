"""Lines between a process and the keeper beside it: one JSON object each."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import Any, BinaryIO

from ..wire.fleets import Directive


def to_line(message: dict[str, Any]) -> bytes:
    """A message as one line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


class Outbox:
    """What the keeper has to tell. The reader may be busy for minutes, so renewals are merged while it is."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._changed = threading.Condition()
        self._lines: list[dict[str, Any]] = []
        self._renewed: dict[str, float] = {}
        self._directive = ""
        self._closed = False
        self._writer = threading.Thread(target=self._write_on, name="fleetgate-outbox", daemon=True)
        self._writer.start()

    def put(self, message: dict[str, Any]) -> None:
        """Tells one message, in order."""
        with self._changed:
            self._lines.append(message)
            self._changed.notify()

    def lost(self, lease_id: str, reason: str) -> None:
        """A lease is lost."""
        self.put({"type": "lost", "id": lease_id, "reason": reason})

    def renewed(self, ids: Iterable[str], sent_at: float) -> None:
        """Leases were renewed by a beat sent at this time."""
        with self._changed:
            self._renewed.update(dict.fromkeys(ids, sent_at))
            self._changed.notify()

    def directive(self, directive: Directive) -> None:
        """What the operator asks for; told when it changes."""
        if directive != self._directive:
            self._directive = directive
            self.put({"type": "directive", "directive": directive})

    def replaced(self) -> None:
        """A newer process took over."""
        self.put({"type": "replaced"})

    def failed(self, error: Exception, failures: int) -> None:
        """A beat failed; only the newest failure is told."""
        with self._changed:
            self._lines = [line for line in self._lines if line["type"] != "failed"]
        words = getattr(error, "detail", str(error))
        self.put({"type": "failed", "message": words, "failures": failures})

    def close(self) -> None:
        """Writes what is left, then ends."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._writer.join()

    def _write_on(self) -> None:
        while True:
            with self._changed:
                while not (self._lines or self._renewed or self._closed):
                    self._changed.wait()
                lines, self._lines = self._lines, []
                renewed, self._renewed = self._renewed, {}
                closed = self._closed
            # Renewals first: a loss that is told after them is newer.
            if renewed:
                self._pipe.write(to_line({"type": "renewed", "sent_at": renewed}))
            for line in lines:
                self._pipe.write(to_line(line))
            self._pipe.flush()
            if closed:
                return
