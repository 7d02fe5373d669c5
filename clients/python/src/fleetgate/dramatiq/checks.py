"""Settings of Dramatiq's that are wrong for long tasks: a line each, with what to set."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from dramatiq import Actor
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import Retries, TimeLimit

from ..errors import FleetgateError
from ..fleet import Fleet

_log = logging.getLogger("fleetgate")
# Of so many commands, `maintenance_chance` look for dead workers.
_EVERY_COMMAND = 1_000_000
_POLICY_S = 2.0
# A fleet's lease_ttl_ms where the key may not read its policy.
_DEFAULT_TTL_MS = 30_000
_MANY_RUNS = 5
_SHUTDOWN_OPTION = "--worker-shutdown-timeout"
# What `dramatiq` takes without that option.
_SHUTDOWN_TIMEOUT_MS = 600_000


def tell_settings(broker: RedisBroker, fleet: Fleet, default: str | None) -> None:
    """Logs a warning for each setting that is wrong."""
    for line in wrong_settings(broker, _lease_ttl_ms(fleet), default, sys.argv):
        _log.warning("%s", line)


def wrong_settings(
    broker: RedisBroker, lease_ttl_ms: int, default: str | None, arguments: Sequence[str]
) -> Iterator[str]:
    """What is wrong, and what to set; `arguments` are those of the command line."""
    yield from _slow_redelivery(broker, lease_ttl_ms)
    actors = [
        actor for actor in broker.actors.values() if actor.options.get("fleetgate", default) is not None
    ]
    limits = {actor.actor_name: _time_limit(broker, actor) for actor in actors}
    for name, limit in limits.items():
        if math.isinf(limit):
            yield f"actor {name} has no end: one that hangs holds its slot for ever; set time_limit (ms)"
    yield from _unset_limits(broker, actors)
    longest = max((limit for limit in limits.values() if math.isfinite(limit)), default=0.0)
    if longest > _SHUTDOWN_TIMEOUT_MS and not any(one.startswith(_SHUTDOWN_OPTION) for one in arguments):
        yield (
            f"a task may run {_s(longest)}, but {_s(_SHUTDOWN_TIMEOUT_MS)} after SIGTERM it is cut off and run again: "
            f"start dramatiq with {_SHUTDOWN_OPTION} {longest:.0f}"
        )


def _slow_redelivery(broker: RedisBroker, lease_ttl_ms: int) -> Iterator[str]:
    timeout = broker.heartbeat_timeout
    if timeout > lease_ttl_ms:
        yield (
            f"a killed worker's slot is free after {_s(lease_ttl_ms)}, but its message comes back only after "
            f"{_s(timeout)}: set RedisBroker(heartbeat_timeout={max(1_000, lease_ttl_ms // 2)})"
        )
    if broker.maintenance_chance < _EVERY_COMMAND:
        commands = round(_EVERY_COMMAND / max(1, broker.maintenance_chance))
        yield (
            f"only one command in {commands:,} looks for a killed worker's messages, and an idle worker sends about "
            f"one a second: set RedisBroker(maintenance_chance={_EVERY_COMMAND})"
        )


def _unset_limits(broker: RedisBroker, actors: Sequence[Actor[Any, Any]]) -> Iterator[str]:
    for actor in actors:
        name, limit = actor.actor_name, _time_limit(broker, actor)
        if "time_limit" not in actor.options and math.isfinite(limit):
            yield (
                f"actor {name} has no time_limit of its own, so Dramatiq interrupts it after {_s(limit)}: "
                "set time_limit (ms) above its longest run"
            )
        for middleware in broker.middleware:
            if isinstance(middleware, Retries) and "max_retries" not in actor.options:
                runs = (middleware.max_retries or 0) + 1
                if runs > _MANY_RUNS and math.isfinite(limit):
                    yield (
                        f"actor {name} may run {runs} times (Dramatiq's max_retries), that is up to "
                        f"{_s(runs * limit)} of a slot for a task that always fails: set max_retries=3"
                    )


def _time_limit(broker: RedisBroker, actor: Actor[Any, Any]) -> float:
    """In ms; infinite when nothing ends the actor."""
    for middleware in broker.middleware:
        if isinstance(middleware, TimeLimit):
            return float(actor.options.get("time_limit") or middleware.time_limit)
    return math.inf


def _lease_ttl_ms(fleet: Fleet) -> int:
    try:
        answer: Any = fleet.get_policy(deadline=_POLICY_S)
    except FleetgateError:
        return _DEFAULT_TTL_MS
    return int(answer.get("lease_ttl_ms", _DEFAULT_TTL_MS))


def _s(ms: float) -> str:
    return f"{ms / 1_000:g} s"
