"""A thread beside the worker's: renews the claim in hand, and puts back the jobs of workers that died."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Sequence
from typing import Callable

from redis.exceptions import RedisError
from rq.queue import Queue

from ..backoff import shorten
from ..clock import now
from ..keeper.lease import Lease
from .claims import Claim, Claims

_log = logging.getLogger("rq.worker")
# How long a claim lives while no lease has told its ttl yet.
FIRST_TTL_S = 10.0
_LONGEST_PAUSE_S = 10.0
_AFTER_ERROR_S = 1.0


class Upkeep:
    """Durations in seconds. `on_gone(claim)`: another has the job by now; `on_spent(queue)`: see `requeue.lua`."""

    def __init__(
        self,
        claims: Claims,
        queues: Sequence[Queue],
        on_gone: Callable[[Claim], None],
        on_spent: Callable[[Queue], None],
    ) -> None:
        self.ttl = FIRST_TTL_S
        self._claims = claims
        self._queues = list(queues)
        self._on_gone = on_gone
        self._on_spent = on_spent
        self._lock = threading.Lock()
        self._claim: Claim | None = None
        self._lease: Lease | None = None
        self._pause = 0.0
        self._wake = threading.Event()
        self._over = threading.Event()
        # After silence of Redis other workers' claims have lapsed too: they may renew them first.
        self._trusted_at = 0.0
        self._thread = threading.Thread(target=self._run, name="fleetgate-upkeep", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, within a second or so."""
        self._over.set()
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join(_AFTER_ERROR_S)

    def hold(self, claim: Claim, lease: Lease | None = None) -> None:
        """Renews a claim from now on, until `drop()`, or until its lease is lost."""
        with self._lock:
            self._claim, self._lease = claim, lease
            if lease is not None and lease.ttl is not None:
                self.ttl = lease.ttl
        self._wake.set()

    def drop(self) -> None:
        """Renews nothing any more."""
        with self._lock:
            self._claim = self._lease = None

    def expect(self, lapses_in: float | None) -> None:
        """Looks for lapsed claims no later than in so many seconds."""
        if lapses_in is not None and lapses_in < self._pause:
            self._wake.set()

    def _run(self) -> None:
        while not self._over.is_set():
            self._pause = self._turn()
            self._wake.wait(self._pause)
            self._wake.clear()

    def _turn(self) -> float:
        try:
            self._renew()
            if self._trusted_at == math.inf:
                self._trusted_at = now() + self.ttl
            lapses_in = self._put_back() if now() >= self._trusted_at else math.inf
        except RedisError as error:
            if self._trusted_at != math.inf:
                _log.warning("claims cannot be renewed, will try on: %s", error)
            self._trusted_at = math.inf
            return min(_AFTER_ERROR_S, self.ttl / 6)
        except Exception:  # without this thread every job would be taken for abandoned
            _log.exception("upkeep failed, will try on")
            return _AFTER_ERROR_S
        return min(shorten(self.ttl / 3), _LONGEST_PAUSE_S, lapses_in)

    def _renew(self) -> None:
        with self._lock:
            claim, lease = self._claim, self._lease
        if claim is None or (lease is not None and lease.lost.is_set()):
            return
        if not self._claims.keep(claim, self.ttl):
            with self._lock:
                is_mine = self._claim is claim
            if is_mine:
                self._on_gone(claim)

    def _put_back(self) -> float:
        soonest = math.inf
        for queue in self._queues:
            found = self._claims.give_back_lapsed(queue)
            for job_id in found.back:
                _log.warning("job %s goes back to the front of %s: its worker is gone", job_id, queue.name)
            if found.spent:
                self._on_spent(queue)
            soonest = min(soonest, math.inf if found.lapses_in is None else found.lapses_in)
        return soonest
