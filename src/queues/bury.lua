-- Ends a delivery that has no payload: dead when its record is lost, dropped when its task has finished already.
-- KEYS: members (zset), timers (zset), running (hash), dead (zset), record (string)
-- ARGV: now, lease, id, member, value
-- Reply: dead, dropped or kept; kept when the record is back or the delivery over
local keys = { members = KEYS[1], timers = KEYS[2], running = KEYS[3], dead = KEYS[4] }
local record, now, lease, id, member, value = KEYS[5], tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local state = read_record_line(redis.call('MGET', record)[1])
local finished = state == 'c' or state == 'x'
if state == 'w' then return 'kept' end
if not end_delivery(keys, lease, id, now, not finished and { keys.dead, 0, member }) then return 'kept' end
if finished then return 'dropped' end
redis.call('SET', record, value)
return 'dead'
