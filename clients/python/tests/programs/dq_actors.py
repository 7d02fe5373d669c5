"""Actors for `dramatiq dq_actors`; where the broker is and which fleet comes from the environment."""

from __future__ import annotations

import asyncio
import ctypes
import os
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import AsyncIO, CurrentMessage, Shutdown
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend
from lines import say

from fleetgate.dramatiq import FleetgateMiddleware, current_lease

url = os.environ["BROKER_URL"]
broker = RedisBroker(
    url=url,
    heartbeat_timeout=int(os.environ.get("HEARTBEAT_TIMEOUT", "3000")),
    maintenance_chance=1_000_000,
)
broker.add_middleware(Results(backend=RedisBackend(url=url), store_results=True))
broker.add_middleware(CurrentMessage())
if "ASYNC" in os.environ:
    broker.add_middleware(AsyncIO())
broker.add_middleware(FleetgateMiddleware(os.environ["FLEET"], on_unavailable=os.environ.get("RULE")))
dramatiq.set_broker(broker)


def retries() -> int:
    message = CurrentMessage.get_current_message()
    assert message is not None
    return message.options.get("retries", 0)


@dramatiq.actor(queue_name="render", fleetgate="normal", time_limit=600_000, max_retries=3, min_backoff=100)
def render(name: str, seconds: float) -> str:
    lease = current_lease()
    lease.on_lost(lambda lost: say("told", name, time.monotonic(), lost.reason))
    say("start", name, time.monotonic(), os.getpid(), retries(), "degraded" if lease.degraded else "held")
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and not lease.lost.is_set():
        time.sleep(0.02)
    say("end", name, time.monotonic(), lease.reason)
    return f"{name} by {os.environ['POD_NAME']}"


@dramatiq.actor(queue_name="render", fleetgate="normal", time_limit=600_000, max_retries=3, min_backoff=100)
def lock(name: str, seconds: float) -> str:
    """Holds the interpreter lock."""
    lease = current_lease()
    say("start", name, time.monotonic(), os.getpid(), retries(), "held")
    ctypes.PyDLL(None).usleep(int(seconds * 1_000_000))
    say("end", name, time.monotonic(), lease.reason)
    return name


@dramatiq.actor(queue_name="light", time_limit=10_000)
def light(name: str) -> str:
    say("light", name, current_lease().id)
    return name


@dramatiq.actor(queue_name="render", fleetgate="normal", time_limit=500, max_retries=0)
def endless(name: str) -> None:
    say("start", name, time.monotonic(), os.getpid(), retries(), "held")
    while True:
        time.sleep(0.02)


@dramatiq.actor(
    queue_name="render", fleetgate="normal", notify_shutdown=True, time_limit=600_000, max_retries=0
)
def until_shutdown(name: str) -> None:
    say("start", name, time.monotonic(), os.getpid(), retries(), "held")
    try:
        while True:
            time.sleep(0.02)
    except Shutdown:
        say("shutdown", name)
        raise


@dramatiq.actor(queue_name="unknown", fleetgate="no-such-class", time_limit=10_000)
def unknown() -> None:
    say("never")


if "ASYNC" in os.environ:

    @dramatiq.actor(queue_name="render", fleetgate="normal", time_limit=600_000, max_retries=0)
    async def coroutine(name: str) -> str:
        await asyncio.sleep(0.1)
        lease = current_lease()
        lease.check()
        say("coroutine", name, lease.cls)
        return name
