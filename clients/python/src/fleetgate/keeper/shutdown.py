"""Signals, heard by a thread: a handler runs inside whatever the main thread does, so it must take no lock."""

from __future__ import annotations

import os
import queue
import signal
import threading
from types import FrameType
from typing import Any, Callable


def can_listen() -> bool:
    """Whether this thread may install signal handlers."""
    return threading.current_thread() is threading.main_thread()


def on_signals(run: Callable[[int], None], *numbers: int, chain: bool = True) -> Callable[[], None]:
    """Calls `run(number)` in a thread at each of these signals; gives back how to stop that.

    With `chain` the handler that stood before is called too, unless it was the system's. Only in the main thread. A
    child forked later behaves as if this had never been installed.
    """
    pid = os.getpid()
    # The one queue whose put() may interrupt another put() of the same thread.
    inbox: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    before: dict[int, Any] = {number: signal.getsignal(number) for number in numbers}

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

    def stop() -> None:
        inbox.put(None)
        for number, earlier in before.items():
            if can_listen() and signal.getsignal(number) is hear:
                signal.signal(number, signal.SIG_DFL if earlier is None else earlier)

    threading.Thread(target=listen, name="fleetgate-signals", daemon=True).start()
    for number in numbers:
        signal.signal(number, hear)
    return stop
