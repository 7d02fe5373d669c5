-- The first line of a record tells its state: w for a task that waits, runs or is dead, c completed, x cancelled,
-- l for one whose payload is lost.
local function read_record_line(record)
  local line = string.match(record or '', '^([^\n]*)\n')
  if not line then return nil end
  local state, rest = string.match(line, '^([wcxl]) (.*)$')
  return state, rest, record:sub(#line + 2)
end

-- The task a record speaks of, whatever its state.
local function record_task(state, rest)
  if state == 'w' or state == 'l' then return read_task(rest) end
  local what = string.match(rest or '', '^%d+ (%S+)$')
  if state == 'c' then return read_lease(what) end
  return read_task(what)
end

local function find_in(key, order, kind, id)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, order, order)) do
    local task = member:sub(1, #kind) == kind and read_task(member:sub(#kind + 1))
    if task and task.id == id then return task, member end
  end
end

-- A waiting task stands at the score that its record gives, or in another rank since its class has another ratio.
local function find_moved(keys, first)
  local from = '0'
  while true do
    local head = redis.call('ZRANGEBYSCORE', keys.ready, from, BEYOND, 'WITHSCORES', 'LIMIT', 0, 1)
    if #head == 0 then return nil end
    local rank = math.floor(tonumber(head[2]) / 1e13)
    first.rank = string.format('%.0f', rank)
    local task, text = find_in(keys.ready, order_of(first), '', first.id)
    if task then return task, text end
    from = string.format('%.0f', (rank + 1) * 1e13)
  end
end

-- The last resort of a search that found nothing: any delayed task of this id, wherever it stands. All are read once
-- a call, since a batch may ask for many that the store has lost.
local delayed
local function find_delayed(keys, id)
  local all = delayed and {} or redis.call('ZRANGE', keys.timers, 0, -1)
  delayed = delayed or {}
  for _, timer in ipairs(all) do
    delayed[string.match(timer, '^d/%d+/([^/]+)/') or ''] = timer
  end
  local task = delayed[id] and read_task(delayed[id]:sub(3))
  if task then return task, delayed[id], tonumber(redis.call('ZSCORE', keys.timers, delayed[id])) end
end

-- Where a task is: its state, the task, and what holds it, or nothing when no structure has it.
local function find_task(keys, failure, first, now, max_deliveries)
  local lease = redis.call('HGET', keys.running, first.id)
  local flying = read_lease(lease)
  if flying and flying.id == first.id then
    local value = tonumber(redis.call('ZSCORE', keys.members, lease) or '')
    if is_live(value, LEASE, now) then return 'in_flight', flying, { running = lease } end
    if may_redeliver(flying, max_deliveries) then return 'ready', flying, { running = lease } end
    return 'dead', flying, { running = lease, reason = 'max_deliveries' }
  end
  local prefix = '[' .. first.id .. '/'
  for _, member in ipairs(redis.call('ZRANGEBYLEX', keys.dead, prefix, '(' .. first.id .. '0', 'LIMIT', 0, 1)) do
    local task, reason = read_dead(member)
    if task then return 'dead', task, { dead = member, reason = reason } end
  end
  local task, text = find_in(keys.ready, order_of(first), '', first.id)
  if task then return 'ready', task, { ready = text } end
  -- A retried task waits for the time its failure names; one that never ran, for the time its age begins.
  local due = string.match(redis.call('GET', failure) or '', '^%S+ (%d+) %S+\n')
  due = tonumber(due or first.age_at)
  task, text = find_in(keys.timers, string.format('%.0f', due), 'd/', first.id)
  if not task then
    task, text = find_moved(keys, first)
    if task then return 'ready', task, { ready = text } end
    task, text, due = find_delayed(keys, first.id)
  end
  if task then return due > now and 'delayed' or 'ready', task, { timers = text } end
end
