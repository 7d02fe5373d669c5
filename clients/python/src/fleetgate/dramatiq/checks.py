"""Settings of Dramatiq's that are wrong for long tasks: a line each, with what to set."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
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
_MANY_RETRIES = 5


def tell_settings(broker: RedisBroker, fleet: Fleet, default: str | None) -> None:
    """Logs a warning for each setting that is wrong."""
    for line in wrong_settings(broker, _lease_ttl_ms(fleet), default):
        _log.warning("%s", line)


def wrong_settings(broker: RedisBroker, lease_ttl_ms: int, default: str | None) -> Iterator[str]:
    """What is wrong, and what to set."""
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
    for actor in broker.actors.values():
        if actor.options.get("fleetgate", default) is not None:
            yield from _wrong_of_actor(broker, actor)


def _wrong_of_actor(broker: RedisBroker, actor: Actor[Any, Any]) -> Iterator[str]:
    limit = actor.options.get("time_limit")
    name = actor.actor_name
    for middleware in broker.middleware:
        if isinstance(middleware, TimeLimit):
            if limit is None:
                yield (
                    f"actor {name} has no time_limit of its own, so Dramatiq interrupts it after "
                    f"{_s(middleware.time_limit)}: set time_limit (ms) above its longest run"
                )
            limit = limit or middleware.time_limit
    if limit is None or math.isinf(limit):
        yield f"actor {name} has no end: one that hangs holds its slot for ever; set time_limit (ms)"
        return
    for middleware in broker.middleware:
        if isinstance(middleware, Retries):
            retries = actor.options.get("max_retries", middleware.max_retries)
            if retries is not None and retries > _MANY_RETRIES and "max_retries" not in actor.options:
                yield (
                    f"actor {name} may fail {retries + 1} times (Dramatiq's max_retries), that is up to "
                    f"{_s((retries + 1) * limit)} of a slot: set max_retries=3"
                )


def _lease_ttl_ms(fleet: Fleet) -> int:
    try:
        answer: Any = fleet.get_policy(deadline=_POLICY_S)
    except FleetgateError:
        return _DEFAULT_TTL_MS
    return int(answer.get("lease_ttl_ms", _DEFAULT_TTL_MS))


def _s(ms: float) -> str:
    return f"{ms / 1_000:g} s"
