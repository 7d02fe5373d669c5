-- Does without a poller what a claim does first: due tasks become ready, lapsed deliveries ready again or dead.
-- KEYS: members, ready, timers, running, dead (fleet's zset, zset, zset, hash, zset)
-- ARGV: now, max_deliveries, limit
-- Reply: how many timers were looked at
local keys = { members = KEYS[1], ready = KEYS[2], timers = KEYS[3], running = KEYS[4], dead = KEYS[5] }
local now, max_deliveries, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

-- A store that lost the timers still has the deliveries: without a timer none of them would ever end.
if redis.call('HLEN', keys.running) > redis.call('ZCARD', keys.timers) then
  local timers, junk, all = {}, {}, redis.call('HGETALL', keys.running)
  for at = 1, #all, 2 do
    if read_lease(all[at + 1]) then
      timers[#timers + 1], timers[#timers + 2] = ARGV[1], 'f/' .. all[at + 1]
    else
      junk[#junk + 1] = all[at]
    end
  end
  in_chunks(junk, 7000, function(...) redis.call('HDEL', keys.running, ...) end)
  in_chunks(timers, 7000, function(...) redis.call('ZADD', keys.timers, 'NX', ...) end)
end
return move_due(keys, now, max_deliveries, limit)
