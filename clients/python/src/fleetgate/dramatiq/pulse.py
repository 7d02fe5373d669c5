"""Keeps Dramatiq's broker from taking this process for dead while a task holds the interpreter lock."""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
import threading
from typing import Any

from dramatiq.brokers.redis import RedisBroker

from .._pulse import READY
from ..keeper.parent import born_deaf
from ..keeper.spawn import PACKAGES, can_spawn
from .queue import heartbeats_key

_log = logging.getLogger("fleetgate")
# As the keeper's: what this process imports from comes after the standard library, and shadows none of it.
_BOOT = "import sys; sys.path += sys.argv[1:]; from fleetgate._pulse import main; main()"
# How often within the broker's heartbeat_timeout it beats, and the longest pause in seconds.
_TIMES = 5
_LONGEST_S = 5.0
# No task may start before it beats, but a worker is not kept from its work for longer.
_READY_S = 20.0
_PLAIN = (str, bytes, int, float, type(None))


class Pulse:
    """A process that notes at the broker that this one is alive, as its fetches do else; it dies with this one.

    It does not beat for one that is stopped (SIGSTOP). Without it a task that holds the lock for longer than
    heartbeat_timeout is delivered to another worker while it runs.
    """

    def __init__(self, broker: RedisBroker) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = False
        self._ready = threading.Event()
        if not can_spawn():
            return
        try:
            self._process = _spawn(_what_to_do(broker))
        except (OSError, pickle.PicklingError, TypeError, AttributeError) as error:
            _say_without(str(error))
            return
        watch = threading.Thread(
            target=self._watch, args=(self._process,), name="fleetgate-pulse", daemon=True
        )
        watch.start()
        self._ready.wait(_READY_S)

    @property
    def pid(self) -> int | None:
        """Its process, None when there is none."""
        return None if self._process is None else self._process.pid

    def stop(self) -> None:
        """Ends it."""
        self._stopping = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        with process:
            assert process.stdout is not None
            if process.stdout.readline() == READY:
                self._ready.set()
            words = process.stdout.read().decode(errors="replace").strip()
        self._ready.set()
        if not self._stopping:
            _say_without(words or f"it ended with code {process.returncode}")


def _say_without(why: str) -> None:
    _log.warning(
        "no process beats at the broker beside this one (%s): a task that holds the interpreter lock for longer than "
        "heartbeat_timeout will be run by another worker too",
        why,
    )


def _what_to_do(broker: RedisBroker) -> bytes:
    pool = broker.client.connection_pool
    # The pool adds objects of its own; what a user gives is plain, but for this one.
    options: dict[str, Any] = {
        name: value
        for name, value in pool.connection_kwargs.items()
        if (isinstance(value, _PLAIN) and not name.startswith("orig_")) or name == "credential_provider"
    }
    return pickle.dumps(
        {
            "parent": os.getpid(),
            "connection": pool.connection_class,
            "options": options,
            "key": heartbeats_key(broker),
            "member": broker.broker_id,
            "every": min(_LONGEST_S, broker.heartbeat_timeout / 1_000 / _TIMES),
        }
    )


def _spawn(start: bytes) -> subprocess.Popen[bytes]:
    with born_deaf():
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOT, PACKAGES, *filter(None, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
    assert process.stdin is not None
    # A password travels in the pipe, never in the arguments.
    process.stdin.write(start)
    process.stdin.close()
    return process
