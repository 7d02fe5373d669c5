"""Signals, heard by a thread: a handler runs inside whatever the main thread does, so it must take no lock."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, Callable

_ASK_FOR_THE_END = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]


def can_listen() -> bool:
    """Whether this thread may install signal handlers."""
    return threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """For what ends a pod, in bounded time: signals that Python would handle meanwhile are dropped.

    They ask for the end, and a handler that raises, as that of Ctrl-C does, would leave the pod in the count.
    """
    heard = {number: signal.getsignal(number) for number in _ASK_FOR_THE_END}
    before = {number: handler for number, handler in heard.items() if callable(handler) and can_listen()}
    for number in before:
        signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Ending:
    """What a signal ends, which may come before there is anything to end."""

    def __init__(self) -> None:
        self._heard = threading.Event()
        self._end: Callable[[], None] = lambda: None

    def hear(self, _: int) -> None:
        """The signal has come."""
        self._heard.set()
        self._end()

    def means(self, end: Callable[[], None]) -> None:
        """From now on `end()` is what it ends; called at once if it has come already, and perhaps twice."""
        self._end = end
        if self._heard.is_set():
            end()


def on_signals(run: Callable[[int], None], *numbers: int, chain: bool = True) -> Callable[[], set[int]]:
    """Calls `run(number)` in a thread at each of these signals; gives back how to stop that.

    Stopping says which were heard by nobody else: whoever could not do what they ask for sends them again.
    With `chain` the handler that stood before is called too, unless it was the system's. Only in the main thread. A
    child forked later behaves as if this had never been installed. What is ignored stays so, as `nohup` and a shell's
    `&` ask for; but for SIGTERM.
    """
    pid = os.getpid()
    # The one queue whose put() may interrupt another put() of the same thread.
    inbox: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    found = {number: signal.getsignal(number) for number in numbers}
    before: dict[int, Any] = {
        number: handler
        for number, handler in found.items()
        if handler is not signal.SIG_IGN or number == signal.SIGTERM
    }
    alone: set[int] = set()

    def listen() -> None:
        while True:
            number = inbox.get()
            if number is None:
                return
            run(number)

    def hear(number: int, frame: FrameType | None) -> None:
        earlier = before[number]
        if os.getpid() != pid:
            signal.signal(number, signal.SIG_DFL if earlier is None else earlier)
            os.kill(os.getpid(), number)
            return
        inbox.put(number)
        if chain and callable(earlier) and earlier is not signal.default_int_handler:
            earlier(number, frame)
        else:
            alone.add(number)

    def stop() -> set[int]:
        inbox.put(None)
        for number, earlier in before.items():
            if can_listen() and signal.getsignal(number) is hear:
                signal.signal(number, signal.SIG_DFL if earlier is None else earlier)
        return alone

    threading.Thread(target=listen, name="fleetgate-signals", daemon=True).start()
    for number in before:
        signal.signal(number, hear)
    return stop
