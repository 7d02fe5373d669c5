-- Cancels a task that waits or is in flight; a delivery under way hears it as a lost lease.
-- KEYS: members, ready, timers, running, dead (fleet's zset, zset, zset, hash, zset), record, failure (strings)
-- ARGV: now, max_deliveries, result_ttl_ms
-- Reply: cancelled, finished or missing
local keys = { members = KEYS[1], ready = KEYS[2], timers = KEYS[3], running = KEYS[4], dead = KEYS[5] }
local record, failure, now = KEYS[6], KEYS[7], tonumber(ARGV[1])
local max_deliveries, result_ttl_ms = tonumber(ARGV[2]), ARGV[3]

local state, rest = read_record_line(redis.call('GET', record))
local first = record_task(state, rest)
if not first then return 'missing' end
if state == 'x' then return 'cancelled' end
if state == 'c' then return 'finished' end
local found, task, place = find_task(keys, failure, first, now, max_deliveries)
if not found then return 'missing' end
if found == 'dead' then return 'finished' end
if place.running then
  redis.call('ZREM', keys.timers, 'f/' .. place.running)
  redis.call('HDEL', keys.running, task.id)
  redis.call('ZREM', keys.members, place.running)
elseif place.timers then
  redis.call('ZREM', keys.timers, place.timers)
else
  redis.call('ZREM', keys.ready, place.ready)
end
redis.call('SET', record, 'x ' .. ARGV[1] .. ' ' .. write_task(task) .. '\n', 'PX', result_ttl_ms)
redis.call('DEL', failure)
return 'cancelled'
