"""Slots for a consumer that must not wait: the waiting goes on beside it."""

from __future__ import annotations

import logging
import threading
from typing import Callable

from .backoff import beat_delay
from .errors import NotGrantedError, PodClosedError, UnavailableError
from .keeper.couriers import Asking
from .keeper.lease import Lease
from .keeper.pod import Pod

# The longest pause after a wait that failed, in seconds.
_LONGEST_S = 10.0
_log = logging.getLogger("fleetgate")


class Gate:
    """`take()` answers at once. When it has to say no it waits in a thread until it holds a slot for the next task.

    That spare slot is given back if nobody takes it within `spare` seconds, since an idle worker must not hold one.
    """

    def __init__(
        self,
        pod: Pod,
        *,
        cls: str | None = None,
        on_free: Callable[[], None] = lambda: None,
        spare: float = 5.0,
    ) -> None:
        self.cls = cls or "normal"
        self._pod = pod
        self._on_free = on_free
        self._spare_s = spare
        self._lock = threading.Lock()
        self._spare: Lease | None = None
        self._asking: Asking | None = None
        self._closed = False

    @property
    def waiting(self) -> bool:
        """Whether a wait goes on, so that `take()` says no."""
        return self._asking is not None

    def take(self) -> Lease | None:
        """A slot for a task that is at hand, or None when there is none; `on_free()` is then called once there is.

        Out of reach of the coordinator it gives a degraded lease, or None when the pod is closed to that. It takes as
        long as one call. Raises ProblemError. Once the gate is closed, or the pod takes no more leases, None it is.
        """
        with self._lock:
            spare, self._spare = self._spare, None
            if spare is not None and not spare.lost.is_set():
                return spare
            if self._closed or self._asking is not None:
                return None
        try:
            return self._pod.slot(cls=self.cls)
        except (NotGrantedError, UnavailableError) as error:
            _log.info("waiting for a slot of class %s: %s", self.cls, error)
            self._begin_to_wait()
        except PodClosedError:
            pass
        return None

    def close(self) -> None:
        """Stops waiting, and gives a spare slot back."""
        with self._lock:
            self._closed = True
            asking, spare, self._spare = self._asking, self._spare, None
        if asking is not None:
            asking.stop(PodClosedError("draining"))
        if spare is not None:
            spare.release()

    def _begin_to_wait(self) -> None:
        with self._lock:
            if self._closed or self._asking is not None or self._spare is not None:
                return
            self._asking = self._pod.asking()
            wait = threading.Thread(
                target=self._wait, args=(self._asking,), name="fleetgate-gate", daemon=True
            )
        wait.start()

    def _wait(self, asking: Asking) -> None:
        try:
            lease = self._next_slot(asking)
        except PodClosedError:
            with self._lock:
                self._asking = None
            return
        with self._lock:
            self._asking = None
            late = self._closed
            if not late:
                self._spare = lease
        if late:
            lease.release()
            return
        timer = threading.Timer(self._spare_s, self._give_back, (lease,))
        timer.daemon = True
        timer.start()
        self._on_free()

    def _next_slot(self, asking: Asking) -> Lease:
        failures = 0
        while True:
            try:
                return self._pod.slot(cls=self.cls, wait=None, asking=asking)
            except PodClosedError:
                raise
            except Exception as error:  # whatever it is, the consumer stands still until it hears of a slot
                failures += 1
                _log.error("no slot of class %s can be had, will ask again: %s", self.cls, error)
                asking.sleep(beat_delay(failures, None, _LONGEST_S))

    def _give_back(self, lease: Lease) -> None:
        with self._lock:
            if self._spare is not lease:
                return
            self._spare = None
        lease.release()
