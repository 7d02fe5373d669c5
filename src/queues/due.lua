-- Moves what time has changed: delayed tasks that are due become ready, in-flight ones whose lease has lapsed become
-- ready again or dead. A lease renewed in the fleet's set only moves its timer. Gives how many timers it looked at.
local function move_due(keys, now, max_deliveries, limit)
  local due = redis.call('ZRANGEBYSCORE', keys.timers, '-inf', string.format('%.0f', now), 'LIMIT', 0, limit)
  if #due == 0 then return 0 end
  local timers, ready, dead, flights, ended, later = {}, {}, {}, {}, {}, {}
  local function put(list, value, member)
    list[#list + 1] = value
    list[#list + 1] = member
  end
  for _, timer in ipairs(due) do
    if timer:sub(1, 2) == 'f/' then
      flights[#flights + 1] = timer:sub(3)
    else
      local task = read_task(timer:sub(3))
      timers[#timers + 1] = timer
      if task then put(ready, order_of(task), timer:sub(3)) end
    end
  end
  if #flights > 0 then
    local leases, held = redis.call('HMGET', keys.running, unpack(flights)), {}
    for _, lease in ipairs(leases) do held[#held + 1] = lease or nil end
    local found = scores_of(keys.members, held)
    for at, id in ipairs(flights) do
      local lease = leases[at]
      local task = read_lease(lease)
      if task and is_live(found[lease], LEASE, now) then
        put(later, string.format('%.0f', found[lease] - LEASE * 1e15), 'f/' .. id)
      else
        timers[#timers + 1], ended[#ended + 1] = 'f/' .. id, id
        if task and may_redeliver(task, max_deliveries) then
          put(ready, order_of(task), write_task(task))
        elseif task then
          put(dead, 0, dead_member(task, now, 'max_deliveries'))
        end
      end
    end
  end
  if #ready > 0 then redis.call('ZADD', keys.ready, unpack(ready)) end
  if #dead > 0 then redis.call('ZADD', keys.dead, unpack(dead)) end
  if #ended > 0 then redis.call('HDEL', keys.running, unpack(ended)) end
  if #timers > 0 then redis.call('ZREM', keys.timers, unpack(timers)) end
  if #later > 0 then redis.call('ZADD', keys.timers, unpack(later)) end
  return #due
end
