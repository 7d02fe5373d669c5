-- Puts claimed jobs back at the front of their queue: those named, or else those whose claim has lapsed.
-- KEYS: the queue's set of claims, its list, RQ's set of its started executions (member job:execution)
-- ARGV: prefixes of RQ's job keys, of its sets of a job's executions, of its execution keys; how often a job may be
--   begun; members to give back
-- Reply: {ms until the next claim lapses (-1: there is none), [job put back…], [job begun too often…]}
local job_prefix, executions_prefix, execution_prefix, most = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local claims, list, started = KEYS[1], KEYS[2], KEYS[3]

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local is_named = #ARGV > 4
local members = {}
if is_named then
  for at = 5, #ARGV do
    members[#members + 1] = ARGV[at]
  end
else
  members = redis.call('ZRANGEBYSCORE', claims, '-inf', now, 'LIMIT', 0, 100)
end

local function forget_executions(job)
  local executions = executions_prefix .. job
  for _, id in ipairs(redis.call('ZRANGE', executions, 0, -1)) do
    redis.call('ZREM', started, job .. ':' .. id)
    redis.call('DEL', execution_prefix .. job .. ':' .. id)
  end
  redis.call('DEL', executions)
end

local back, spent = {}, {}
for at = #members, 1, -1 do -- each goes before those already put back
  local member = members[at]
  local job = member:match('^(.*):[^:]*$')
  local key = job_prefix .. job
  local ours = redis.call('ZREM', claims, member) == 1
  local status = ours and redis.call('HGET', key, 'status')
  if status == 'queued' or status == 'started' then
    forget_executions(job)
    local lost = is_named and 0 or redis.call('HINCRBY', key, 'fleetgate_lost', 1)
    if lost < most then
      redis.call('HSET', key, 'status', 'queued', 'started_at', '', 'worker_name', '')
      if not is_named then
        redis.call('LREM', list, 0, job) -- somebody may have queued it anew meanwhile
      end
      redis.call('LPUSH', list, job)
      back[#back + 1] = job
    else
      -- RQ's own rule for abandoned jobs takes over: an execution that has expired.
      redis.call('HSET', key, 'status', 'started')
      redis.call('HDEL', key, 'fleetgate_lost')
      redis.call('ZADD', started, 0, member)
      spent[#spent + 1] = job
    end
  end
end

local first = redis.call('ZRANGE', claims, 0, 0, 'WITHSCORES')
return { first[2] and math.max(0, tonumber(first[2]) - now) or -1, back, spent }
