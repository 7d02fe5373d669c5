"""Renews running tasks' messages from a process beside, where tasks run in the worker's own and may hold its lock.

It is forked before the worker connects, knows what it is told by a pipe, and ends with it. It does not renew for a
worker that is stopped (SIGSTOP), whose tasks are to start elsewhere.
"""

from __future__ import annotations

import json
import os
import select
from contextlib import suppress
from typing import Any

from ..keeper.parent import born_deaf, deaf_to_signals, die_with, is_stopped
from .unacked_store import UnackedStore

_PERIOD_S = 0.5


class Renewer:
    """The worker's end of it. Should that process be gone, the worker still renews by itself while it can."""

    def __init__(self, app: Any) -> None:
        parent = os.getpid()
        read, self._pipe = os.pipe()
        with born_deaf():
            self.pid = os.fork()
            if self.pid == 0:
                try:
                    os.close(self._pipe)
                    _serve(app, read, parent)
                finally:
                    os._exit(0)
        os.close(read)
        os.set_blocking(self._pipe, False)

    def hold(self, member: str, lifetime: float) -> None:
        """Renews a message from now on, each time for so many seconds."""
        self._tell({"member": member, "lifetime": lifetime})

    def drop(self, member: str) -> None:
        """Renews it no more."""
        self._tell({"member": member})

    def stop(self) -> None:
        """Ends the process."""
        os.close(self._pipe)
        os.waitpid(self.pid, 0)

    def _tell(self, message: dict[str, Any]) -> None:
        try:
            os.write(self._pipe, json.dumps(message).encode() + b"\n")
        except OSError:
            return  # it is gone, or does not read any more


def _serve(app: Any, pipe: int, parent: int) -> None:
    deaf_to_signals()
    die_with(parent)
    connection = app.connection_for_write()
    held: dict[str, float] = {}
    unread = b""
    while True:
        if select.select([pipe], [], [], min([_PERIOD_S, *(one / 3 for one in held.values())]))[0]:
            part = os.read(pipe, 65_536)
            if not part:
                return
            *lines, unread = (unread + part).split(b"\n")
            for line in map(json.loads, lines):
                held.pop(line["member"], None)
                if "lifetime" in line:
                    held[line["member"]] = line["lifetime"]
        if held and not is_stopped(parent):
            # When Redis is away the worker says so.
            with suppress(Exception):
                UnackedStore(connection.default_channel).renew(list(held.items()))
