-- Ends a delivery if it is the task's present one and its lease is live; `also` is one more write: set, score, member.
-- Its timer tells which is the present one: a lease may outlive it when a renewal was on its way. Removing comes first,
-- since a store without memory refuses a script whose first write adds.
local function end_delivery(keys, lease, id, now, also)
  local timer, held, added = 'f/' .. lease, 0, 0
  if redis.call('ZREM', keys.timers, timer) == 0 then return false end
  local function undo()
    redis.call('ZADD', keys.timers, string.format('%.0f', now), timer)
    if held == 1 then redis.call('HSET', keys.running, id, lease) end
    if added == 1 then redis.call('ZREM', also[1], also[3]) end
  end
  held = write_or(undo, 'HDEL', keys.running, id)
  if held == 1 then
    if also then added = write_or(undo, 'ZADD', unpack(also)) end
    local ended = write_or(undo, 'ZADD', keys.members, 'XX', 'LT', 'CH', ended_at(now), lease)
    if ended == 1 then return true end
  end
  undo()
  return false
end
