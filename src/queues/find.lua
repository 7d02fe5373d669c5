-- Where a waiting task is: its state, the task, and what holds it, or nothing when no structure has it.
local function find_task(keys, failure, first, now, max_deliveries)
  local lease = redis.call('HGET', keys.running, first.id)
  if lease then
    local task = read_lease(lease)
    local score_now = tonumber(redis.call('ZSCORE', keys.members, lease) or '')
    if is_live(score_now, LEASE, now) then return 'in_flight', task, { running = lease } end
    return may_redeliver(task, max_deliveries) and 'ready' or 'dead', task, { running = lease }
  end
  local dead = redis.call('ZRANGEBYLEX', keys.dead, '[' .. first.id .. '/', '(' .. first.id .. '0', 'LIMIT', 0, 1)[1]
  if dead then
    local text, reason = string.match(dead, '^[^/]*/%d+/(' .. string.rep('[^/]*/', #FIELDS - 1) .. '[^/]*)/(.*)$')
    return 'dead', read_task(text), { dead = dead, reason = reason }
  end
  local order = order_of(first)
  for _, text in ipairs(redis.call('ZRANGEBYSCORE', keys.ready, order, order)) do
    local task = read_task(text)
    if task and task.id == first.id then return 'ready', task, { ready = text } end
  end
  -- A retried task waits for the time its failure names; one that never ran, for the time its age begins.
  local due = string.match(redis.call('GET', failure) or '', '^%S+ (%d+)') or first.age_at
  for _, timer in ipairs(redis.call('ZRANGEBYSCORE', keys.timers, due, due)) do
    local task = timer:sub(1, 2) == 'd/' and read_task(timer:sub(3))
    if task and task.id == first.id then
      return tonumber(due) > now and 'delayed' or 'ready', task, { timers = timer }
    end
  end
  return nil
end

-- The first line of a record tells its state; a payload or a result stands behind it.
local function read_record_line(record)
  local line = string.match(record or '', '^([^\n]*)\n')
  if not line then return nil end
  local state, rest = string.match(line, '^(%a) (.*)$')
  return state, rest, record:sub(#line + 2)
end
