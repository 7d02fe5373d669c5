-- Returns deliveries of a pod that leaves: the tasks are ready again, and the delivery does not count.
-- KEYS: members, ready, timers (zsets), running (hash)
-- ARGV: now, then per task: lease; at most 1,000, since a ZADD takes two values for each
-- Reply: the leases that were live and are ended
local members, ready, timers, running = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local now, leases, flights = tonumber(ARGV[1]), { unpack(ARGV, 2) }, {}
for at, lease in ipairs(leases) do flights[at] = 'f/' .. lease end

local found, current = scores_of(members, leases), scores_of(timers, flights)
local ended, over, ids, back, entries = {}, {}, {}, {}, {}
for _, lease in ipairs(leases) do
  local task = is_live(found[lease], LEASE, now) and read_lease(lease)
  if task then ended[#ended + 1] = lease end
  -- A lease that a renewal on its way has kept longer than its delivery only holds a slot.
  if task and current['f/' .. lease] then
    task.deliveries, task.deferred = task.deliveries - 1, task.deferred + 1
    over[#over + 1], ids[#ids + 1] = 'f/' .. lease, task.id
    back[#back + 1], back[#back + 2] = ARGV[1], 'f/' .. lease
    entries[#entries + 1], entries[#entries + 2] = order_of(task), write_task(task)
  end
end
if #ended == 0 then return ended end

if #over > 0 then
  local held = {}
  local function undo()
    redis.call('ZADD', timers, unpack(back))
    if #held > 0 then redis.call('HSET', running, unpack(held)) end
  end
  redis.call('ZREM', timers, unpack(over))
  write_or(undo, 'HDEL', running, unpack(ids))
  for at, id in ipairs(ids) do held[at * 2 - 1], held[at * 2] = id, over[at]:sub(3) end
  write_or(undo, 'ZADD', ready, unpack(entries))
end
redis.call('ZREM', members, unpack(ended))
return ended
