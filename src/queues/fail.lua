-- Ends a delivery without a result: the task goes back, waits, or is dead, and the slot is free.
-- KEYS: members, ready, timers (zsets), running (hash), dead (zset), failure (string)
-- ARGV: now, lease, id, state, value, member, note
-- Reply: {outcome, state}; outcome is failed, already or stale
local keys = { members = KEYS[1], ready = KEYS[2], timers = KEYS[3], running = KEYS[4], dead = KEYS[5] }
local failure, now, lease, id, state = KEYS[6], tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
local value, member, note = ARGV[5], ARGV[6], ARGV[7]

local target = ({ ready = keys.ready, delayed = keys.timers, dead = keys.dead })[state]
if end_delivery(keys, lease, id, now, { target, value, member }) then
  redis.call('SET', failure, note)
  return { 'failed', state }
end
local before, became = string.match(redis.call('GET', failure) or '', '^(%S+) %d+ (%S+)\n')
if before == lease then return { 'already', became } end
return { 'stale', '' }
