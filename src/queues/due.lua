-- Moves what time has changed: delayed tasks that are due become ready, in-flight ones whose lease has lapsed become
-- ready again or dead. A lease renewed in the fleet's set only moves its timer; one that lapsed leaves its band,
-- so that no renewal on its way brings it back. Gives how many timers it looked at.
local function move_due(keys, now, max_deliveries, limit)
  local due = redis.call('ZRANGEBYSCORE', keys.timers, '-inf', string.format('%.0f', now), 'WITHSCORES',
                         'LIMIT', 0, limit)
  if #due == 0 then return 0 end
  local ready, dead, later, timers, ids, flights, lapsed, leases, back = {}, {}, {}, {}, {}, {}, {}, {}, {}
  local function put(list, value, member)
    list[#list + 1] = value
    list[#list + 1] = member
  end
  for at = 1, #due, 2 do
    if due[at]:sub(1, 2) == 'f/' then leases[#leases + 1] = due[at]:sub(3) end
  end
  local found = scores_of(keys.members, leases)
  for at = 1, #due, 2 do
    local timer = due[at]
    local delayed, flying, rest = timer:sub(1, 2) == 'd/', timer:sub(1, 2) == 'f/', timer:sub(3)
    local task
    if delayed then task = read_task(rest) end
    if flying then task = read_lease(rest) end
    if task and flying and is_live(found[rest], LEASE, now) then
      put(later, string.format('%.0f', found[rest] - LEASE * 1e15), timer)
    else
      timers[#timers + 1] = timer
      put(back, due[at + 1], timer)
      -- An infinite score is junk, whose remainder is no number.
      local ended = flying and found[rest] and found[rest] % 1e15
      if ended and ended == ended then put(lapsed, score(REPLACED, ended), rest) end
      if task and flying then
        ids[#ids + 1] = task.id
        put(flights, task.id, rest)
      end
      if task and (delayed or may_redeliver(task, max_deliveries)) then
        put(ready, order_of(task), write_task(task))
      elseif task then
        put(dead, 0, dead_member(task, now, 'max_deliveries'))
      end
    end
  end

  local held, added = {}, {}
  local function undo()
    redis.call('ZADD', keys.timers, unpack(back))
    if #held > 0 then redis.call('HSET', keys.running, unpack(held)) end
    if #added > 0 then redis.call('ZREM', keys.ready, unpack(added)) end
  end
  if #timers > 0 then redis.call('ZREM', keys.timers, unpack(timers)) end
  if #ids > 0 then write_or(undo, 'HDEL', keys.running, unpack(ids)) end
  held = flights
  if #ready > 0 then write_or(undo, 'ZADD', keys.ready, unpack(ready)) end
  for at = 2, #ready, 2 do added[#added + 1] = ready[at] end
  if #dead > 0 then write_or(undo, 'ZADD', keys.dead, unpack(dead)) end
  if #lapsed > 0 then redis.call('ZADD', keys.members, 'XX', unpack(lapsed)) end
  if #later > 0 then rescore(keys.timers, unpack(later)) end
  return #due / 2
end
