-- Ends a delivery without a result: the task goes back, waits, or is dead, and the slot is free.
-- KEYS: members, ready, timers (zsets), running (hash), dead (zset), failure (string)
-- ARGV: now, lease, id, state, value, member, note
-- Reply: {outcome, state}; outcome is failed, already or stale
local members, ready, timers, running, dead, failure = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local now, lease, id, state = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local value, member, note = ARGV[5], ARGV[6], ARGV[7]

if redis.call('ZADD', members, 'XX', 'LT', 'CH', half_past(LEASE, now), lease) == 1 then
  redis.call('HDEL', running, id)
  redis.call('ZREM', timers, 'f/' .. id)
  redis.call('ZADD', ({ ready = ready, delayed = timers, dead = dead })[state], value, member)
  redis.call('SET', failure, note)
  return { 'failed', state }
end
local before, became = string.match(redis.call('GET', failure) or '', '^(%S+) %d+ (%S+)')
if before == lease then return { 'already', became } end
return { 'stale', '' }
