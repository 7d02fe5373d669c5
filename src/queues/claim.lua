-- Takes tasks and a slot for each in one step, or neither; a repeated request hears the same leases.
-- KEYS: members, ready, timers, running, dead (fleet's zset, zset, zset, hash, zset), request (string), then where
--       the queue names a limit: bucket (string)
-- ARGV: now, open, asked, max, holder, queue, lease_ttl_ms, time_limit_ms, max_deliveries, mixed, request_memory_ms,
--       limit, then per class: class, ratio; the first is normal
-- Reply: {outcome, then lease, expires_at in turn}; outcome is claimed, ended, empty, at_capacity, paused or
--        limited, which the wait in ms follows
local keys = { members = KEYS[1], ready = KEYS[2], timers = KEYS[3], running = KEYS[4], dead = KEYS[5] }
local request, now, open, asked = KEYS[6], tonumber(ARGV[1]), ARGV[2] == '1', ARGV[3] == '1'
local max, holder, queue, lease_ttl_ms = tonumber(ARGV[4]), ARGV[5], ARGV[6], tonumber(ARGV[7])
local time_limit_ms, max_deliveries, mixed = tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10] == '1'
local request_memory_ms, limit, ratios = ARGV[11], ARGV[12], {}
for at = 13, #ARGV, 2 do ratios[ARGV[at]] = tonumber(ARGV[at + 1]) end

local kept = asked and redis.call('GET', request)
if kept then
  local leases, reply = {}, { 'ended' }
  for lease in string.gmatch(kept, '%S+') do leases[#leases + 1] = lease end
  local found = scores_of(keys.members, leases)
  for _, lease in ipairs(leases) do
    if is_live(found[lease], LEASE, now) then
      reply[1], reply[#reply + 1], reply[#reply + 2] = 'claimed', lease, found[lease] - LEASE * 1e15
    end
  end
  return reply
end
if not open then return { 'paused' } end

move_due(keys, now, max_deliveries, 500)
local taken, gone, live, busy, from, closed, gate, limited = {}, {}, nil, nil, '-inf', nil, nil, false
repeat
  local waiting = redis.call('ZRANGEBYSCORE', keys.ready, from, '+inf', 'LIMIT', 0, max - #taken)
  if #waiting == 0 then break end
  if not live then live, busy = count_live(keys.members, READY, now), count_live(keys.members, LEASE, now) end
  closed = nil
  for _, text in ipairs(waiting) do
    local task = read_task(text)
    if task and busy + #taken >= capacity_of(live, ratios[task.class] or ratios[ARGV[13]]) then
      closed = task
      break
    end
    gate = gate or task and read_gate(KEYS[7], limit, now)
    limited = task and #taken >= gate.room
    if limited then break end
    gone[#gone + 1] = text
    if task then taken[#taken + 1] = task end
  end
  -- Classes rank by their ratio when enqueued, so what is open stands before what is closed, unless ratios changed.
  if closed then from = string.format('%.0f', (closed.rank + 1) * 1e13) end
until limited or not (closed and mixed) or #taken == max
if #gone > 0 then redis.call('ZREM', keys.ready, unpack(gone)) end
if #taken == 0 and limited then return { 'limited', gate.wait_ms } end
if #taken == 0 then return { closed and 'at_capacity' or 'empty' } end

local timers, leases, running, reply = {}, {}, {}, { 'claimed' }
for at, task in ipairs(taken) do
  local deadline_at = now + (tonumber(task.limit) or time_limit_ms)
  local expires_at = math.min(now + lease_ttl_ms, deadline_at)
  task.deliveries = task.deliveries + 1
  task.first = task.first == '' and ARGV[1] or task.first
  task.last = ARGV[1]
  local lease = table.concat({ holder, task.class, ARGV[7], queue, string.format('%.0f', deadline_at), ARGV[1],
                               write_task(task) }, '/')
  timers[at * 2 - 1], timers[at * 2] = string.format('%.0f', expires_at), 'f/' .. task.id
  leases[at * 2 - 1], leases[at * 2] = score(LEASE, expires_at), lease
  running[at * 2 - 1], running[at * 2] = task.id, lease
  reply[at * 2], reply[at * 2 + 1] = lease, expires_at
end
pass_gate(gate, #taken, now)
redis.call('ZADD', keys.timers, unpack(timers))
redis.call('ZADD', keys.members, unpack(leases))
redis.call('HSET', keys.running, unpack(running))
if asked then
  local list = {}
  for at = 2, #leases, 2 do list[#list + 1] = leases[at] end
  redis.call('SET', request, table.concat(list, ' '), 'PX', request_memory_ms)
end
return reply
