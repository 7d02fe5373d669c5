-- What moving a task needs travels in the members themselves, as text in fixed places.
-- A task is turn/id/class/priority/enqueued_at/age_at/rank/max/limit/hash/deliveries/deferred/first/last/failed, with
-- age_at empty where it is enqueued_at; its lease is t/cluster/pod/instance/class/ttl/queue/deadline/claimed/ and then
-- the task. In a queue's timers a delayed task is d/ and the task, a delivery f/ and its lease.
local FIELDS = { 'turn', 'id', 'class', 'priority', 'enqueued_at', 'age_at', 'rank', 'max', 'limit', 'hash',
                 'deliveries', 'deferred', 'first', 'last', 'failed' }
local TASK = '(%d+)/([^/%s]+)/([^/%s]+)/(%d)/(%d+)/(%d*)/(%d+)/(%d*)/(%d*)/([^/%s]+)/(%d+)/(%d+)/(%d*)/(%d*)/([01])'
local WHOLE_TASK, LEASE_TASK = '^' .. TASK .. '$', '^t' .. string.rep('/[^/]*', 4) .. '/%d+/[^/]*/%d+/%d+/(.*)$'

-- Nothing for a text that is not of this shape, so that junk among the members is passed over.
local function read_task(text)
  local values = { string.match(text or '', WHOLE_TASK) }
  if #values ~= #FIELDS then return nil end
  local task = {}
  for at, field in ipairs(FIELDS) do task[field] = values[at] end
  if task.age_at == '' then task.age_at = task.enqueued_at end
  return task
end

local function write_task(task)
  local values = {}
  for at, field in ipairs(FIELDS) do values[at] = task[field] end
  if task.age_at == task.enqueued_at then values[6] = '' end
  return table.concat(values, '/')
end

local function read_lease(lease)
  return read_task(string.match(lease or '', LEASE_TASK))
end

-- No task stands there, only junk: whoever goes from group to group there would never come to an end.
local BEYOND = '(1e16'

-- Class first, then priority, then age; equal scores fall in order of turn and id.
local function order_of(task)
  local age = math.max(0, tonumber(task.age_at) - 1.75e12)
  return string.format('%.0f', task.rank * 1e13 + (9 - task.priority) * 1e12 + age)
end

local function dead_member(task, now, reason)
  return task.id .. '/' .. string.format('%.0f', now) .. '/' .. write_task(task) .. '/' .. reason
end

local function read_dead(member)
  local text, reason = string.match(member, '^[^/]*/%d+/(' .. TASK:gsub('[()]', '') .. ')/(.*)$')
  return read_task(text), reason
end

local function may_redeliver(task, max_deliveries)
  return tonumber(task.deliveries) < (tonumber(task.max) or max_deliveries)
end

-- A write that a record of another type may refuse: then what was done before it is taken back.
local function write_or(undo, ...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then
    undo()
    error(reply)
  end
  return reply
end
