"""The process beside a Dramatiq worker that notes at its broker that it is alive; started by `dramatiq.pulse`."""

from __future__ import annotations

import pickle
import sys
import time
from typing import Any

import redis

from .keeper.parent import deaf_to_signals, die_with, end_without, is_stopped

# What it says once it has beaten, or tried to.
READY = b"ready\n"
# How long one beat may wait for the broker's Redis.
_PATIENCE_S = 5.0


def main() -> None:
    """Beats until its parent is gone or kills it."""
    deaf_to_signals()
    start: dict[str, Any] = pickle.load(sys.stdin.buffer)
    parent: int = start["parent"]
    die_with(parent)
    bounds = {"socket_timeout": _PATIENCE_S, "socket_connect_timeout": _PATIENCE_S}
    pool = redis.ConnectionPool(connection_class=start["connection"], **{**start["options"], **bounds})
    broker: redis.Redis = redis.Redis(connection_pool=pool)
    said = False
    while True:
        end_without(parent)
        if not is_stopped(parent):
            _beat(broker, start)
        if not said:
            sys.stdout.buffer.write(READY)
            sys.stdout.buffer.flush()
            said = True
        time.sleep(start["every"])


def _beat(broker: redis.Redis, start: dict[str, Any]) -> None:
    try:
        broker.zadd(start["key"], {start["member"]: int(time.time() * 1_000)})
    except (redis.ConnectionError, redis.TimeoutError):
        pass  # the worker itself meets it too
    except redis.RedisError as error:
        sys.stdout.buffer.write(f"\n{error}".encode())
        sys.exit(1)
