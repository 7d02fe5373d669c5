-- What moving a task needs travels in the members themselves, as text in fixed places.
-- A task is turn/id/class/priority/enqueued_at/age_at/rank/max/limit/hash/deliveries/deferred/first/last/failed;
-- its lease is t/cluster/pod/instance/class/ttl/queue/deadline/claimed/ and then the task.
local FIELDS = { 'turn', 'id', 'class', 'priority', 'enqueued_at', 'age_at', 'rank', 'max', 'limit', 'hash',
                 'deliveries', 'deferred', 'first', 'last', 'failed' }

local function read_task(text)
  local task, at = {}, 0
  for value in string.gmatch((text or '') .. '/', '([^/]*)/') do
    at = at + 1
    task[FIELDS[at] or at] = value
  end
  return at == #FIELDS and task or nil
end

local function write_task(task)
  local values = {}
  for at, field in ipairs(FIELDS) do values[at] = task[field] end
  return table.concat(values, '/')
end

local function read_lease(lease)
  local deadline, claimed, task = string.match(lease or '', '^t/[^/]*/[^/]*/[^/]*/[^/]*/%d+/[^/]*/(%d+)/(%d+)/(.*)$')
  return read_task(task), tonumber(deadline), tonumber(claimed)
end

-- Class first, then priority, then age; equal scores fall in order of turn and id.
local function order_of(task)
  local age = math.max(0, tonumber(task.age_at) - 1.75e12)
  return string.format('%.0f', task.rank * 1e13 + (9 - task.priority) * 1e12 + age)
end

local function dead_member(task, now, reason)
  return task.id .. '/' .. string.format('%.0f', now) .. '/' .. write_task(task) .. '/' .. reason
end

local function may_redeliver(task, max_deliveries)
  return tonumber(task.deliveries) < (tonumber(task.max) or max_deliveries)
end
