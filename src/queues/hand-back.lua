-- Returns deliveries of a pod that leaves: the tasks are ready again, and the delivery does not count.
-- KEYS: members, ready, timers (zsets), running (hash)
-- ARGV: now, then per task: lease
-- Reply: the leases that were live and are ended
local members, ready, timers, running = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local now, ended = tonumber(ARGV[1]), {}
for at = 2, #ARGV do
  local lease = ARGV[at]
  local task = read_lease(lease)
  if task and redis.call('ZADD', members, 'XX', 'LT', 'CH', half_past(LEASE, now), lease) == 1 then
    task.deliveries, task.deferred = task.deliveries - 1, task.deferred + 1
    redis.call('HDEL', running, task.id)
    redis.call('ZREM', timers, 'f/' .. task.id)
    redis.call('ZADD', ready, order_of(task), write_task(task))
    ended[#ended + 1] = lease
  end
end
return ended
