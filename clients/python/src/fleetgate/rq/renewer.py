"""A process beside a worker that runs jobs in its own: it renews the claim while a job holds the interpreter lock.

As the keeper's process does for the slot: it dies with its parent, and renews nothing for one that is stopped.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pickle
import queue
import subprocess
import sys
import threading
from typing import Any

from redis import ConnectionPool, Redis
from redis.exceptions import RedisError
from rq.connections import parse_connection

from ..keeper.parent import born_deaf, deaf_to_signals, die_with, is_stopped
from .claims import Claim, claims_key, keep_script

_log = logging.getLogger("rq.worker")
_BOOT = "import sys; sys.path[:] = {path!r}; from fleetgate.rq.renewer import main; main()"
_AFTER_ERROR_S = 1.0


class Renewer:
    """The worker's end of it. Without that process the worker's thread renews alone."""

    def __init__(self, connection: Redis) -> None:
        told = (*parse_connection(connection), os.getpid())
        self._process: subprocess.Popen[bytes] | None = None
        try:
            start = pickle.dumps(told)
            with born_deaf():
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _BOOT.format(path=sys.path)], stdin=subprocess.PIPE, bufsize=0
                )
            self._write(start)
        except (OSError, pickle.PicklingError, TypeError, AttributeError) as error:
            _log.warning("a job that holds the interpreter lock past its ttl will run twice: %s", error)

    def hold(self, claim: Claim, ttl: float) -> None:
        """Renews a claim from now on; its `ttl` in seconds."""
        self._say({"key": claims_key(claim.queue), "member": claim.member, "ttl": ttl})

    def drop(self) -> None:
        """Renews nothing any more."""
        self._say(None)

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            self._process.wait()

    def _say(self, what: dict[str, Any] | None) -> None:
        with contextlib.suppress(OSError):
            self._write(json.dumps(what).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(data)


def main() -> None:
    """Serves one worker until the pipe ends."""
    deaf_to_signals()
    try:
        client_class, connection_class, kwargs, parent = pickle.load(sys.stdin.buffer)
    except EOFError:
        return  # a worker that ended before it had said what to do
    die_with(parent)
    keep = keep_script(
        client_class(connection_pool=ConnectionPool(connection_class=connection_class, **kwargs))
    )
    heard: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(heard,), daemon=True).start()
    held: dict[str, Any] | None = None
    while True:
        with contextlib.suppress(queue.Empty):
            held = heard.get(timeout=held["ttl"] / 3 if held else None)
        while held is not None and heard.empty() and not is_stopped(parent):
            try:
                keep(keys=[held["key"]], args=[held["member"], round(held["ttl"] * 1_000), 0])
                break
            except RedisError:
                threading.Event().wait(min(_AFTER_ERROR_S, held["ttl"] / 6))


def _listen(heard: queue.SimpleQueue[dict[str, Any] | None]) -> None:
    for line in sys.stdin.buffer:
        heard.put(json.loads(line))
    os._exit(0)
