"""Says in the log when the coordinator is out of reach, and when it is back."""

from __future__ import annotations

import logging

_log = logging.getLogger("fleetgate")


class Reach:
    """As the slots of one pod tell it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._is_away = False

    def granted(self, is_degraded: bool) -> None:
        """A wait for a slot has ended; says once when the coordinator is away, and once when it is back."""
        if is_degraded == self._is_away:
            return
        self._is_away = is_degraded
        if is_degraded:
            _log.warning("the coordinator is out of reach: running without a slot (%s)", self._url)
        else:
            _log.warning("the coordinator is back: running with slots again (%s)", self._url)
