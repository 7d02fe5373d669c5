-- Takes tasks in, each once by its id; a repeat hears what became of the first.
-- KEYS: members, ready, timers, running, dead (fleet's zset, zset, zset, hash, zset), then per task: record, failure
-- ARGV: now, max_backlog, max_deliveries, then per task: task, payload, delayed
-- Reply: per task {outcome, state}; outcome is added, duplicate, conflict or full
local keys = { members = KEYS[1], ready = KEYS[2], timers = KEYS[3], running = KEYS[4], dead = KEYS[5] }
local now, max_backlog, max_deliveries = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local backlog = 0
if max_backlog then
  backlog = redis.call('ZCARD', keys.ready) + redis.call('HLEN', keys.running)
  for _, timer in ipairs(redis.call('ZRANGEBYSCORE', keys.timers, '-inf', ARGV[1])) do
    if timer:sub(1, 2) == 'd/' then backlog = backlog + 1 end
  end
end

local ready, delayed, reply = {}, {}, {}
local function add(task, text, later)
  local list = later and delayed or ready
  list[#list + 1] = later and task.age_at or order_of(task)
  list[#list + 1] = later and 'd/' .. text or text
  return later and 'delayed' or 'ready'
end

local function repeated(record, failure, task, text, later)
  local state, rest = read_record_line(record)
  local first
  if state == 'w' then first = read_task(rest) end
  if state == 'c' then first = read_lease(string.match(rest, '^%d+ (%S+)$')) end
  if state == 'x' then first = read_task(string.match(rest, '^%d+ (%S+)$')) end
  if not first or first.hash ~= task.hash then return { 'conflict', '' } end
  if state ~= 'w' then return { 'duplicate', state == 'c' and 'completed' or 'cancelled' } end
  local found = find_task(keys, failure, first, now, max_deliveries)
  -- A record that no structure knows was cut off while it was made, or the store forgot: it is taken in again.
  return { 'duplicate', found or add(task, text, later) }
end

for at = 1, (#KEYS - 5) / 2 do
  local record, failure = KEYS[4 + at * 2], KEYS[5 + at * 2]
  local text, payload, later = ARGV[1 + at * 3], ARGV[2 + at * 3], ARGV[3 + at * 3] == '1'
  local task, value = read_task(text), 'w ' .. text .. '\n' .. payload
  local before
  if max_backlog then
    before = redis.call('GET', record)
    if not before and backlog < max_backlog then redis.call('SET', record, value) end
  elseif not redis.call('SET', record, value, 'NX') then
    before = redis.call('GET', record)
  end
  if before then
    reply[at] = repeated(before, failure, task, text, later)
  elseif max_backlog and backlog >= max_backlog then
    reply[at] = { 'full', '' }
  else
    backlog = backlog + (later and 0 or 1)
    reply[at] = { 'added', add(task, text, later) }
  end
end
if #ready > 0 then redis.call('ZADD', keys.ready, unpack(ready)) end
if #delayed > 0 then redis.call('ZADD', keys.timers, unpack(delayed)) end
return reply
