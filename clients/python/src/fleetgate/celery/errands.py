"""Work for a thread beside, which may be handed over from a signal handler."""

from __future__ import annotations

import logging
import queue
import threading
from typing import Callable

_log = logging.getLogger("fleetgate")


class Errands:
    """Does one after the other."""

    def __init__(self, name: str) -> None:
        # The one queue whose put() may interrupt another put() of the same thread.
        self._inbox: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def send(self, work: Callable[[], object]) -> None:
        """Does this, after what was sent before."""
        self._inbox.put(work)

    def stop(self, wait: float) -> None:
        """Ends after what was sent; waits at most so many seconds for that."""
        self._inbox.put(None)
        self._thread.join(wait)

    def _run(self) -> None:
        while True:
            work = self._inbox.get()
            if work is None:
                return
            try:
                work()
            except Exception:
                _log.exception("unexpected")
