"""The keeper's own process: `python -m fleetgate._keeper`, started by a pod and spoken to over pipes.

It beats and renews while its parent computes, whatever holds the parent's interpreter lock, and dies with it. It does
not beat for a parent that is stopped (SIGSTOP): a pod that cannot run must not keep its slots.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from .calls.fleets import FleetCalls
from .connection import HttpTransport
from .errors import UnavailableError
from .keeper.beater import ThreadBeater
from .keeper.beats import BeaterStart, SendBeat
from .keeper.held import HeldLease
from .keeper.messages import Outbox
from .keeper.parent import deaf_to_signals, die_with, end_without, is_stopped
from .sender import Sender
from .settings import Settings
from .wire.fleets import BeatState, HeartbeatAnswer


def main() -> None:
    """Serves one parent until it says stop or is gone."""
    deaf_to_signals()
    start: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    die_with(start["parent"])
    outbox = Outbox(sys.stdout.buffer)
    beater = ThreadBeater(_send_beats(start), BeaterStart(**start["start"]), outbox)
    outbox.put({"type": "ready"})
    for line in sys.stdin.buffer:
        message = json.loads(line)
        kind = message.pop("type")
        if kind == "hold":
            beater.hold(HeldLease(**message))
        elif kind == "drop":
            beater.drop(message["id"])
        elif kind == "state":
            beater.set_state(message["state"])
        elif kind == "stop":
            beater.stop()
            outbox.close()
            return
    # The parent is gone: what it held lapses by its ttl, since its children may still be at work.
    os._exit(0)


def _send_beats(start: dict[str, Any]) -> SendBeat:
    settings = Settings(
        start["url"], start["key"], start["start"]["timeout"], start["start"]["timeout"], "closed"
    )
    calls = FleetCalls(Sender(settings, HttpTransport()), start["fleet"])
    body = start["body"]
    parent: int = start["parent"]

    def send(state: BeatState, leases: list[str], timeout: float) -> HeartbeatAnswer:
        end_without(parent)
        if is_stopped(parent):
            raise UnavailableError(0, "the process is stopped")
        return calls.heartbeat(**body, state=state, leases=leases, repeat=False, timeout=timeout)

    return send


if __name__ == "__main__":
    main()
