-- Tells where a task is and what is known of it.
-- KEYS: members, ready, timers, running, dead (fleet's zset, zset, zset, hash, zset), record, failure (strings)
-- ARGV: now, max_deliveries
-- Reply: {state, task, finished_at, text, note, reason}; state is empty when there is no such task
local keys = { members = KEYS[1], ready = KEYS[2], timers = KEYS[3], running = KEYS[4], dead = KEYS[5] }
local record, failure, now, max_deliveries = KEYS[6], KEYS[7], tonumber(ARGV[1]), tonumber(ARGV[2])

local state, rest, text = read_record_line(redis.call('GET', record))
if not state then return { '', '', 0, '', '', '' } end
if state ~= 'w' then
  local finished_at, what = string.match(rest, '^(%d+) (%S+)$')
  local task = state == 'c' and read_lease(what) or read_task(what)
  local became = state == 'c' and 'completed' or 'cancelled'
  return { became, task and write_task(task) or '', tonumber(finished_at), text, '', '' }
end
local first = read_task(rest)
local found, task, place
if first then found, task, place = find_task(keys, failure, first, now, max_deliveries) end
if not found then return { '', '', 0, '', '', '' } end
return { found, write_task(task), 0, '', redis.call('GET', failure) or '', place.reason or '' }
