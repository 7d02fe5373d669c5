"""What Redis keeps of running tasks' messages, beside Kombu's own `unacked` and `unacked_index`.

One sorted set, `<unacked_index>.fleetgate`: member `<delivery tag> <id of this delivery>`, score its deadline in ms of
Redis's clock; below 0, the time at which it was put back, kept for a day so that its first worker can learn of it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

_NOW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
# KEYS: ours. ARGV: member, lifetime (ms).
_BEGIN = """
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
"""
# KEYS: ours, unacked_index. ARGV: Kombu's time (s), then member, delivery tag and lifetime (ms) of each.
# Reply: those that were put back. One that is not there has ended meanwhile, and must not come back to life.
_RENEW = """
local lost = {}
for at = 2, #ARGV, 3 do
  local score = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[at]))
  if score and score < 0 then
    table.insert(lost, ARGV[at])
  elseif score then
    redis.call('ZADD', KEYS[1], now + ARGV[at + 2], ARGV[at])
    redis.call('ZADD', KEYS[2], 'XX', ARGV[1], ARGV[at + 1])
  end
end
return lost
"""
# KEYS: ours. ARGV: how many. Reply: members that are overdue.
_OVERDUE = """
redis.call('ZREMRANGEBYSCORE', KEYS[1], 86400000 - now, '(0')
return redis.call('ZRANGEBYSCORE', KEYS[1], 0, now, 'LIMIT', 0, ARGV[1])
"""
# KEYS: ours, unacked_index, unacked, the queues it goes to. ARGV: member, delivery tag, payload.
# Reply: whether it was there.
_MOVE = """
redis.call('ZREM', KEYS[2], ARGV[2])
if redis.call('HDEL', KEYS[3], ARGV[2]) == 0 then return 0 end
for at = 4, #KEYS do redis.call('RPUSH', KEYS[at], ARGV[3]) end
return 1
"""
# Once: the answer may be lost, and the message another worker's by the time it is said again.
_END = f"""
local score = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or -1)
if score < 0 then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
{_MOVE}"""
_PUT_BACK = f"""
local score = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or -1)
if score < 0 or score > now then return 0 end
redis.call('ZADD', KEYS[1], -now, ARGV[1])
{_MOVE}"""


class UnackedStore:
    """The Redis of one channel of Kombu's. Each call is one script, and raises what redis-py raises."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel
        prefix = channel.global_keyprefix
        self._ours = f"{prefix}{channel.unacked_index_key}.fleetgate"
        self._index = f"{prefix}{channel.unacked_index_key}"
        self._unacked = f"{prefix}{channel.unacked_key}"
        self._prefix = prefix

    def begin(self, member: str, lifetime: float) -> None:
        """A message's task begins; it is overdue after so many seconds."""
        self._run(_NOW + _BEGIN, [self._ours], [member, round(lifetime * 1_000)])

    def abandon(self, member: str) -> bool:
        """Undoes a `begin()` whose answer was lost; the message itself stays as it is."""
        return bool(self._run("return redis.call('ZREM', KEYS[1], ARGV[1])", [self._ours], [member]))

    def renew(self, members: Sequence[tuple[str, float]]) -> list[str]:
        """Moves deadlines on by so many seconds each, and Kombu's own; gives back those that were put back."""
        given: list[Any] = [time.time()]
        for member, lifetime in members:
            given += [member, tag_of(member), round(lifetime * 1_000)]
        return [_text(one) for one in self._run(_NOW + _RENEW, [self._ours, self._index], given)]

    def overdue(self, most: int) -> list[str]:
        """Members whose worker has not moved them on."""
        return [_text(one) for one in self._run(_NOW + _OVERDUE, [self._ours], [most])]

    def finish(self, member: str) -> bool:
        """Acknowledges a message; False if it was put back before."""
        return self._move(_END, member, [], "")

    def give_back(self, member: str) -> bool:
        """Puts a message at the front of its queue; False if it was put back before."""
        return self._move(_END, member, *self._destination(member))

    def put_back(self, member: str) -> bool:
        """The same for another worker's message, if it is still overdue."""
        return self._move(_NOW + _PUT_BACK, member, *self._destination(member))

    def _destination(self, member: str) -> tuple[list[str], str]:
        """The lists a message goes back to, and its text."""
        channel = self._channel
        with channel.conn_or_acquire() as client:
            kept = client.hget(channel.unacked_key, tag_of(member))
        if not kept:
            return [], ""
        payload, exchange, routing_key = json.loads(kept)
        payload["headers"]["redelivered"] = True
        payload["properties"]["delivery_info"]["redelivered"] = True
        priority = channel._get_message_priority(payload, reverse=False)
        queues = channel._lookup(exchange, routing_key)
        if not queues:
            raise LookupError(f"no queue for a message to {exchange!r} with routing key {routing_key!r}")
        return [self._prefix + channel._q_for_pri(queue, priority) for queue in queues], json.dumps(payload)

    def _move(self, script: str, member: str, queues: list[str], payload: str) -> bool:
        keys = [self._ours, self._index, self._unacked, *queues]
        return bool(self._run(script, keys, [member, tag_of(member), payload]))

    def _run(self, script: str, keys: list[str], given: list[Any]) -> Any:
        # EVAL, since Kombu's client would put its prefix before one key only of EVALSHA.
        with self._channel.conn_or_acquire() as client:
            return client.eval(script, len(keys), *keys, *given)


def tag_of(member: str) -> str:
    """The delivery tag in a member."""
    return member.partition(" ")[0]


def _text(word: Any) -> str:
    return word.decode() if isinstance(word, bytes) else str(word)
