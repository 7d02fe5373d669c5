-- Counts a queue as it is now, also where time has passed that no call has worked off yet.
-- KEYS: members, ready, timers, running, dead (fleet's zset, zset, zset, hash, zset)
-- ARGV: now, max_deliveries
-- Reply: {ready, delayed, in_flight, dead, oldest_at}; oldest_at is -1 when nothing is ready
local members, ready, timers, running, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, max_deliveries = tonumber(ARGV[1]), tonumber(ARGV[2])

local counts = { ready = redis.call('ZCARD', ready), dead = redis.call('ZCARD', dead) }
local flying = redis.call('HLEN', running)
counts.delayed = redis.call('ZCARD', timers) - flying
local oldest = nil
local function look(task)
  oldest = math.min(oldest or math.huge, tonumber(task.age_at))
end

local leases, delayed, waiting = {}, 0, 0
local due = redis.call('ZRANGEBYSCORE', timers, '-inf', ARGV[1], 'LIMIT', 0, 5000)
for _, timer in ipairs(due) do
  if timer:sub(1, 2) == 'f/' then
    leases[#leases + 1] = timer:sub(3)
  else
    local task = read_task(timer:sub(3))
    delayed, waiting = delayed + 1, waiting + (task and 1 or 0)
    if task then look(task) end
  end
end
if #due == 5000 then
  -- There may be any number of delayed tasks, but no more deliveries than slots: those are asked, the rest is counted.
  local names = redis.call('HVALS', running)
  for at, lease in ipairs(names) do names[at] = 'f/' .. lease end
  local at, first = scores_of(timers, names), {}
  for _, name in ipairs(names) do
    if at[name] and at[name] <= now then first[#first + 1] = name:sub(3) end
  end
  leases, delayed = first, redis.call('ZCOUNT', timers, '-inf', ARGV[1]) - #first
  waiting = delayed
end
counts.delayed, counts.ready = counts.delayed - delayed, counts.ready + waiting
local found = scores_of(members, leases)
for _, lease in ipairs(leases) do
  if not is_live(found[lease], LEASE, now) then
    local task = read_lease(lease)
    flying = flying - 1
    if task and may_redeliver(task, max_deliveries) then
      counts.ready = counts.ready + 1
      look(task)
    elseif task then
      counts.dead = counts.dead + 1
    end
  end
end

-- The oldest stands first in its class and priority; from group to group there are few jumps.
local from = '0'
while true do
  local first = redis.call('ZRANGEBYSCORE', ready, from, BEYOND, 'WITHSCORES', 'LIMIT', 0, 1)
  if #first == 0 then break end
  local task = read_task(first[1])
  if task then look(task) end
  from = string.format('%.0f', (math.floor(tonumber(first[2]) / 1e12) + 1) * 1e12)
end
return { counts.ready, math.max(0, counts.delayed), math.max(0, flying), counts.dead, oldest or -1 }
