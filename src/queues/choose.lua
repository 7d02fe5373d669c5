-- The place of a class among others; src/queues/task.ts computes the same.
local function rank_of(ratio)
  return math.floor((10000 - ratio) * 0.08)
end

-- Moves tasks whose class has another ratio than when they were taken in to the place that this gives them.
local function rerank(ready, waiting, ratio_of)
  local moved, entries = {}, {}
  for _, text in ipairs(waiting) do
    local task = read_task(text)
    if task and tonumber(task.rank) ~= rank_of(ratio_of(task)) then
      moved[#moved + 1], task.rank = text, rank_of(ratio_of(task))
      entries[#entries + 1], entries[#entries + 2] = order_of(task), write_task(task)
    end
  end
  if #moved == 0 then return false end
  redis.call('ZREM', ready, unpack(moved))
  redis.call('ZADD', ready, unpack(entries))
  return true
end

-- Chooses the next tasks whose class has a free slot and that the gate lets pass: the tasks, the members to take out,
-- and what another would hear now: at_capacity for sure, or else empty.
-- Classes rank by their ratio, so what is open stands before what is closed; `mixed` says that ratios have changed, so
-- that tasks may wait in an order of other days.
local function choose(keys, now, max, ratios, mixed, open_gate)
  local taken, gone, live, busy, from, passed, closed, looks = {}, {}, nil, nil, '-inf', 0, nil, 0
  local function ratio_of(task) return ratios[task.class] or ratios.normal end
  local function look(limit)
    return redis.call('ZRANGEBYSCORE', keys.ready, from, '+inf', 'LIMIT', 0, limit)
  end
  repeat
    local waiting = look(max - #taken)
    while mixed and looks < 4 and rerank(keys.ready, waiting, ratio_of) do
      rerank(keys.ready, look(500), ratio_of)
      -- Some may have moved before a class that was closed.
      if #taken == 0 then from, passed = '-inf', 0 end
      waiting, looks = look(max - #taken), looks + 1
    end
    if #waiting == 0 then break end
    if not live then live, busy = count_live(keys.members, READY, now), count_live(keys.members, LEASE, now) end
    closed = nil
    for _, text in ipairs(waiting) do
      local task = read_task(text)
      if task and busy + #taken >= capacity_of(live, ratio_of(task)) then
        closed = task
        break
      end
      if task and #taken >= open_gate().room then return taken, gone, 'limited' end
      gone[#gone + 1], taken[#taken + 1] = text, task
    end
    if closed then
      -- Onwards in any case: junk may stand elsewhere than where its text says.
      passed = math.max(passed + 1e13, (closed.rank + 1) * 1e13)
      from = string.format('%.0f', passed)
    end
  until not (closed and mixed) or #taken == max or passed >= 1e16
  if closed then return taken, gone, 'at_capacity' end
  -- What waits behind has no larger ratio, so it finds no slot either.
  local last = not mixed and #gone == max and taken[#taken]
  local full = last and busy + #taken >= capacity_of(live, ratio_of(last))
  return taken, gone, full and 'at_capacity' or 'empty'
end
