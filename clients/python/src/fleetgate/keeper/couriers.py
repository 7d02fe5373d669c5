"""Calls that their caller may walk away from: each is made in a thread that hears it to its end."""

from __future__ import annotations

import queue
import threading
from typing import Any, Callable

from ..waiting import wait_for

# An idle thread ends after so many seconds, and closes its connection.
_IDLE_S = 10.0


class Errand:
    """One call under way."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._ended = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None
        self.on_end: Callable[[], None] = lambda: None

    @property
    def ended(self) -> bool:
        """Whether it has ended, one way or another."""
        return self._ended.is_set()

    def result(self, timeout: float | None = None) -> Any:
        """What the call gave or raised; waits at most `timeout` seconds, then raises TimeoutError."""
        if not self._ended.wait(timeout):
            raise TimeoutError
        if self._error is not None:
            raise self._error
        return self._value

    def run(self) -> None:
        """Makes the call."""
        try:
            self._value = self._work()
        except BaseException as error:
            self._error = error
        self._ended.set()
        self.on_end()


class Couriers:
    """Threads that make calls; each is used again, and so is its connection. They never keep a process alive."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Errand]] = []

    def send(self, work: Callable[[], Any], on_end: Callable[[], None] = lambda: None) -> Errand:
        """Makes a call in another thread; `on_end` runs there after it."""
        errand = Errand(work)
        errand.on_end = on_end
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = queue.SimpleQueue()
            threading.Thread(target=self._serve, args=(inbox,), name="fleetgate-courier", daemon=True).start()
        inbox.put(errand)
        return errand

    def _serve(self, inbox: queue.SimpleQueue[Errand]) -> None:
        while True:
            try:
                inbox.get(timeout=_IDLE_S).run()
            except queue.Empty:
                with self._lock:
                    # One that was taken out in this moment is about to get an errand.
                    if inbox in self._idle:
                        self._idle.remove(inbox)
                        return
                continue
            with self._lock:
                self._idle.append(inbox)


class Asking:
    """One logical request as its caller sees it: it can be stopped from another thread while a call is under way."""

    def __init__(self, couriers: Couriers) -> None:
        self._couriers = couriers
        self._changed = threading.Condition()
        self._stopped: Exception | None = None
        self.errand: Errand | None = None

    def stop(self, error: Exception) -> None:
        """Makes the waiting caller raise `error` at once."""
        with self._changed:
            self._stopped = self._stopped or error
            self._changed.notify_all()

    @property
    def is_stopped(self) -> bool:
        """Whether it was stopped."""
        return self._stopped is not None

    def call(self, work: Callable[[], Any]) -> Any:
        """Makes a call and gives its result, or raises what it was stopped with while the call goes on."""
        self.raise_if_stopped()
        errand = self._couriers.send(work, self._notify)
        self.errand = errand
        with self._changed:
            wait_for(self._changed, lambda: errand.ended or self._stopped is not None)
        if not errand.ended:
            self.raise_if_stopped()
        return errand.result()

    def sleep(self, seconds: float) -> None:
        """Waits so many seconds, or raises what it was stopped with."""
        with self._changed:
            wait_for(self._changed, lambda: self._stopped is not None, seconds)
        self.raise_if_stopped()

    def raise_if_stopped(self) -> None:
        """Raises what it was stopped with, if it was."""
        if self._stopped is not None:
            raise self._stopped

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()
