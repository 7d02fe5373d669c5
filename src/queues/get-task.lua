-- Tells where a task is and what is known of it.
-- KEYS: members, ready, timers, running, dead (fleet's zset, zset, zset, hash, zset), record, failure (strings)
-- ARGV: now, max_deliveries
-- Reply: {state, task, finished_at, text, note, reason}; state is empty when there is no such task
local keys = { members = KEYS[1], ready = KEYS[2], timers = KEYS[3], running = KEYS[4], dead = KEYS[5] }
local record, failure, now, max_deliveries = KEYS[6], KEYS[7], tonumber(ARGV[1]), tonumber(ARGV[2])

local nothing = { '', '', 0, '', '', '' }
local state, rest, text = read_record_line(redis.call('GET', record))
local first = record_task(state, rest)
if not first then return nothing end
if state == 'c' or state == 'x' then
  local finished_at = tonumber(string.match(rest, '^%d+'))
  return { state == 'c' and 'completed' or 'cancelled', write_task(first), finished_at, text, '', '' }
end
local found, task, place = find_task(keys, failure, first, now, max_deliveries)
if not found then return nothing end
return { found, write_task(task), 0, '', redis.call('GET', failure) or '', place.reason or '' }
