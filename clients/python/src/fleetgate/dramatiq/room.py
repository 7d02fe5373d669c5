"""How many messages a worker can start now."""

from __future__ import annotations

import threading
from typing import Callable


class Room:
    """A place for each worker thread; shared by the consumers of all queues, so that none fetches what must wait."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._changed = threading.Condition()
        self.closed = False

    def enter(self, ready: Callable[[], bool], timeout: float) -> bool:
        """Takes a place once one is free and `ready()` says so; False if that is not within `timeout` seconds."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.closed or (self._free > 0 and ready()), timeout):
                return False
            if self.closed:
                return False
            self._free -= 1
            return True

    def leave(self) -> None:
        """Gives a place back."""
        with self._changed:
            self._free += 1
            self._changed.notify_all()

    def look_again(self) -> None:
        """What `ready()` asks about may have changed."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Lets nobody in any more."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
