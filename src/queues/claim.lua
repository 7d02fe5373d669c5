-- Takes tasks and a slot for each in one step, or neither; a repeated request hears the same leases.
-- KEYS: members, ready, timers, running, dead (fleet's zset, zset, zset, hash, zset), request (string), then where
--       the queue names a limit: bucket (string)
-- ARGV: now, open, asked, max, holder, queue, lease_ttl_ms, time_limit_ms, max_deliveries, mixed, request_memory_ms,
--       limit, then per class: class, ratio; one is normal, whose ratio a class that the policy has lost falls back to
-- Reply: {outcome, after, then lease, expires_at in turn}; outcome is claimed, ended, empty, at_capacity, paused or
--        limited, where the wait in ms follows; after is 1 where another claim would hear at_capacity now, else 0
local keys = { members = KEYS[1], ready = KEYS[2], timers = KEYS[3], running = KEYS[4], dead = KEYS[5] }
local request, now, open, asked = KEYS[6], tonumber(ARGV[1]), ARGV[2] == '1', ARGV[3] == '1'
local max, holder, queue, lease_ttl_ms = tonumber(ARGV[4]), ARGV[5], ARGV[6], tonumber(ARGV[7])
local time_limit_ms, max_deliveries, mixed = tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10] == '1'
local request_memory_ms, limit, bucket, ratios = ARGV[11], ARGV[12], KEYS[7], {}
for at = 13, #ARGV, 2 do ratios[ARGV[at]] = tonumber(ARGV[at + 1]) end

local kept = asked and redis.call('GET', request)
if kept then
  local leases, reply = {}, { 'ended', 0 }
  for lease in string.gmatch(kept, '%S+') do leases[#leases + 1] = lease end
  local found = scores_of(keys.members, leases)
  for _, lease in ipairs(leases) do
    if is_live(found[lease], LEASE, now) then
      reply[1], reply[#reply + 1], reply[#reply + 2] = 'claimed', lease, found[lease] - LEASE * 1e15
    end
  end
  return reply
end
if not open then return { 'paused', 0 } end

local looked = move_due(keys, now, max_deliveries, 500)
local gate
local function open_gate()
  gate = gate or read_gate(bucket, limit, now)
  return gate
end
local taken, gone, why = choose(keys, now, max, ratios, mixed, open_gate)
local after = looked < 500 and why == 'at_capacity' and 1 or 0
local timers, leases, running, back, reply = {}, {}, {}, {}, { 'claimed', after }
for at, task in ipairs(taken) do
  back[at * 2 - 1], back[at * 2] = order_of(task), write_task(task)
  local deadline_at = now + (tonumber(task.limit) or time_limit_ms)
  local expires_at = math.min(now + lease_ttl_ms, deadline_at)
  task.deliveries = task.deliveries + 1
  task.first = task.first == '' and ARGV[1] or task.first
  task.last = ARGV[1]
  local lease = table.concat({ holder, task.class, ARGV[7], queue, string.format('%.0f', deadline_at), ARGV[1],
                               write_task(task) }, '/')
  timers[at * 2 - 1], timers[at * 2] = string.format('%.0f', expires_at), 'f/' .. lease
  leases[at * 2 - 1], leases[at * 2] = score(LEASE, expires_at), lease
  running[at * 2 - 1], running[at * 2] = task.id, lease
  reply[at * 2 + 1], reply[at * 2 + 2] = lease, expires_at
end
-- Taking out comes first: a store without memory refuses a script whose first write adds.
if #gone > 0 then redis.call('ZREM', keys.ready, unpack(gone)) end
if #taken == 0 then return { why, after, gate and gate.wait_ms } end
write_or(function() redis.call('ZADD', keys.ready, unpack(back)) end, 'HSET', keys.running, unpack(running))
pass_gate(gate, #taken, now)
redis.call('ZADD', keys.timers, unpack(timers))
redis.call('ZADD', keys.members, unpack(leases))
if asked then
  local list = {}
  for at = 2, #leases, 2 do list[#list + 1] = leases[at] end
  redis.call('SET', request, table.concat(list, ' '), 'PX', request_memory_ms)
end
return reply
