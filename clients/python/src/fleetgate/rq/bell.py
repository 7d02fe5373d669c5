"""Tells an idle worker that a queue has a job, without popping it."""

from __future__ import annotations

import logging
import threading

from redis import Redis
from redis.exceptions import RedisError
from rq.queue import Queue

_log = logging.getLogger("rq.worker")
_PAUSE_S = 2.0


class Bell:
    """Rings an event, once each time it was armed, as soon as the queue is not empty."""

    def __init__(self, connection: Redis, queue: Queue, ring: threading.Event, block: int) -> None:
        self._connection = connection
        self._key = queue.key
        self._ring = ring
        self._block = block
        self._armed = threading.Event()
        threading.Thread(target=self._listen, name="fleetgate-bell", daemon=True).start()

    def arm(self) -> None:
        """Listens until it has rung."""
        self._armed.set()

    def _listen(self) -> None:
        while True:
            self._armed.wait()
            try:
                # From the left end to the left end: a wait that leaves the list as it is.
                found = self._connection.blmove(self._key, self._key, self._block, "LEFT", "LEFT")
            except RedisError as error:
                _log.debug("cannot listen at %s: %s", self._key, error)
                # The worker's own calls meet the same and wait longer each time.
                threading.Event().wait(_PAUSE_S)
                found = None
            if found is not None:
                self._armed.clear()
                self._ring.set()
