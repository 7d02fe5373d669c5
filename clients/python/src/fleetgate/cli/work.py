"""`fleetgate work`: a command for each task, its payload on stdin and its result from stdout."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from typing import IO, Any

from ..client import Client
from ..jsontext import RawJson
from ..keeper.shutdown import Ending, on_signals
from ..queue import fleet_of
from ..work.task import Task, TaskFailed
from .exits import USAGE
from .launch import Command, leaving, start

_LARGEST_RESULT = 65_536
_TAIL = 2_000
_NO_COMMAND = "fleetgate: no command: put it after --, as in: fleetgate work --queue infer -- python infer.py"


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of `work`."""
    parser.usage = "fleetgate work --queue QUEUE [options] -- COMMAND [ARGUMENT ...]"
    parser.description = (
        "Claims tasks and runs the command for each: the payload's JSON text on stdin, the result from stdout (JSON, "
        "or else a text), exit code 0 completes the task, any other fails it. FLEETGATE_TASK_ID and "
        "FLEETGATE_DELIVERY tell which it is. SIGTERM, SIGINT or SIGHUP ends the claiming; what runs goes on for "
        "--grace seconds and is then handed back, for another worker to start at once."
    )
    parser.add_argument("--queue", required=True, help="the queue to work on")
    parser.add_argument("--fleet", help="the queue's fleet (default: asked for, with a key that may read)")
    parser.add_argument("--concurrency", type=int, default=1, help="tasks at a time (default: 1)")
    parser.add_argument(
        "--grace",
        type=float,
        default=25.0,
        help="seconds after SIGTERM that running tasks may go on (default: 25)",
    )
    parser.add_argument(
        "--kill-after",
        type=float,
        default=3.0,
        help="seconds from SIGTERM to SIGKILL for a command whose task was lost or handed back (default: 3)",
    )
    parser.set_defaults(run=run)


def run(client: Client, options: argparse.Namespace) -> int:
    """Works until a signal."""
    if not options.command:
        print(_NO_COMMAND, file=sys.stderr)
        return USAGE
    queue = client.queue(options.queue)
    fleet = options.fleet or fleet_of(queue)
    runs = _Runs(options.command, options.kill_after)
    ending = Ending()
    # From before it joins until it has left: a signal of those moments must not leave a pod behind.
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]
    stop_listening = on_signals(ending.hear, *numbers, chain=False)
    try:
        pod = client.fleet(fleet).join(
            options.cluster, options.pod, slots=options.concurrency, keeper="thread"
        )
        with leaving(pod):
            worker = queue.worker(runs.handle, concurrency=options.concurrency, pod=pod, grace=options.grace)

            def stop() -> None:
                pod.drain(wait=0)
                worker.stop()

            ending.means(stop)
            try:
                worker.run()
            finally:
                runs.join()
    finally:
        stop_listening()
    return 0


class _Runs:
    """The commands that run now."""

    def __init__(self, line: list[str], kill_after: float) -> None:
        self._line = line
        self._kill_after = kill_after
        self._idle = threading.Condition()
        self._running = 0

    def handle(self, task: Task) -> Any:
        """Runs the command for one task; its result, or TaskFailed."""
        with self._idle:
            self._running += 1
        try:
            return self._run(task)
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    def join(self) -> None:
        """Waits for commands whose task was handed back: SIGKILL has ended them by then."""
        with self._idle:
            self._idle.wait_for(lambda: not self._running, self._kill_after + 1)

    def _run(self, task: Task) -> Any:
        command = start(
            self._line,
            environment={
                "FLEETGATE_TASK_ID": task.id,
                "FLEETGATE_QUEUE": task.queue,
                "FLEETGATE_DELIVERY": str(task.delivery),
            },
            stdin=-1,
            stdout=-1,
            stderr=-1,
        )
        if isinstance(command, int):
            raise TaskFailed(f"the command cannot be run (exit code {command})")
        task.lease.on_lost(lambda _: command.end(self._kill_after))
        errors = _Tail(command.process.stderr)
        output = _Reader(command.process.stdout)
        _feed(command, task.payload_text)
        code = command.wait()
        tail, text = errors.text(), output.text()
        if code != 0:
            raise TaskFailed(f"exit code {code}" + (f": {tail}" if tail else ""))
        if len(text.encode()) > _LARGEST_RESULT:
            raise TaskFailed(f"the result is over {_LARGEST_RESULT} bytes", retry=False)
        return _result(text)


def _feed(command: Command, payload: str) -> None:
    pipe = command.process.stdin
    assert pipe is not None
    try:
        pipe.write(payload.encode())
        pipe.close()
    except OSError:
        return  # a command need not read its payload


def _result(text: str) -> Any:
    """JSON as it is; any other text as a text; nothing as no result."""
    if not text.strip():
        return None
    try:
        return RawJson(text.strip())
    except (ValueError, json.JSONDecodeError):
        return text


class _Reader:
    """Reads a pipe to its end, beside whoever waits for the command."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        self._pipe = pipe
        self._data = b""
        self._thread = threading.Thread(target=self._read, name="fleetgate-output", daemon=True)
        self._thread.start()

    def text(self) -> str:
        """All of it; waits a second for what a grandchild still holds open."""
        self._thread.join(1.0)
        return self._data.decode(errors="replace")

    def _read(self) -> None:
        with self._pipe:
            for part in iter(lambda: self._pipe.read1(65_536), b""):  # type: ignore[attr-defined]
                self.take(part)

    def take(self, part: bytes) -> None:
        # Past what can be a result there is nothing to keep.
        self._data = (self._data + part)[: _LARGEST_RESULT + 1]


class _Tail(_Reader):
    """Passes everything on to our stderr and keeps the end."""

    def take(self, part: bytes) -> None:
        sys.stderr.buffer.write(part)
        sys.stderr.buffer.flush()
        self._data = (self._data + part)[-_TAIL:]
