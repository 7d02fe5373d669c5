"""One queue: its calls and the worker."""

from __future__ import annotations

import os
import signal
from typing import Callable

from .calls.queues import QueueCalls
from .errors import ProblemError
from .fleet import Fleet
from .keeper.pod import Pod
from .keeper.shutdown import Ending, can_listen, on_signals
from .sender import Sender
from .settings import seconds
from .work.worker import Handler, Worker


class Queue(QueueCalls):
    """The calls of one queue, and the working on it."""

    def __init__(self, send: Sender, name: str, fleet: Callable[[str], Fleet]) -> None:
        super().__init__(send, name)
        self._fleet = fleet

    def worker(
        self,
        handler: Handler,
        *,
        concurrency: int = 1,
        fleet: str | None = None,
        pod: Pod | None = None,
        grace: float | None = None,
        wait: float = 20.0,
    ) -> Worker:
        """A worker that calls `handler(task)` for each task, `concurrency` at a time, in threads.

        What the handler returns is the task's result; TaskFailed or any other exception fails it. Without a `pod` it
        joins `fleet` (by default the queue's, which needs a key that may read) with `concurrency` slots, and leaves at
        the end. `grace`: how many seconds running tasks may go on after `stop()`; then they are handed back. `wait`:
        how long the server may hold one claim, at most 25 s.
        """
        if concurrency < 1:
            raise ValueError("concurrency must be 1 or more")
        longest = None if grace is None else seconds("grace", grace)
        own = pod or self._fleet(fleet or fleet_of(self)).join(slots=concurrency)
        return Worker(
            self,
            own,
            handler,
            concurrency=concurrency,
            grace=longest,
            wait=min(25.0, seconds("wait", wait)),
            owns_pod=pod is None,
        )

    def work(
        self,
        handler: Handler,
        *,
        concurrency: int = 1,
        fleet: str | None = None,
        pod: Pod | None = None,
        grace: float | None = None,
        wait: float = 20.0,
        handle_signals: bool | None = None,
    ) -> bool:
        """Runs a `worker()` until SIGTERM, which it hears in the main thread (or never: `handle_signals=False`).

        True when all that ran ended by itself; False when some was handed back.
        """
        listens = can_listen() if handle_signals is None else handle_signals
        ending = Ending()
        # Before it joins: a signal of that moment must not leave a pod behind.
        stop_listening = on_signals(ending.hear, signal.SIGTERM) if listens else set
        try:
            worker = self.worker(
                handler, concurrency=concurrency, fleet=fleet, pod=pod, grace=grace, wait=wait
            )
        except BaseException:
            # Meant for a worker that is not there: the program must hear it instead.
            for number in stop_listening():
                os.kill(os.getpid(), number)
            raise
        try:
            ending.means(worker.stop)
            return worker.run()
        finally:
            stop_listening()


def fleet_of(queue: QueueCalls) -> str:
    """The queue's fleet, as the coordinator has it; ValueError where the key may not read it."""
    try:
        return queue.get()["config"]["fleet"]
    except ProblemError as error:
        if error.code != "wrong-scope":
            raise
        missing = "this key may not read the queue (scope read), so its fleet must be given: fleet=, --fleet"
        raise ValueError(missing) from error
