-- Lists the live pods that hold no lease, longest idle first.
-- KEYS: members (zset), pods (hash)
-- ARGV: now, limit, reach_ms
-- Reply: any number of {field, since}; the end of the pod's last lease, or when it came, but never before the reach
local members, pods = KEYS[1], KEYS[2]
local now, limit, reach_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local function field_of(member)
  return string.match(member, '^%a/([^/]*/[^/]*)/')
end

local busy, over_at, reach = {}, {}, now - reach_ms
for _, lease in ipairs(redis.call('ZRANGEBYSCORE', members, live_range(LEASE, now))) do busy[field_of(lease)] = true end
local ended = redis.call('ZREVRANGEBYSCORE', members, ended_at(now), '(' .. score(LEASE, reach), 'WITHSCORES',
                         'LIMIT', 0, 20000)
for at = 1, #ended, 2 do
  local field = field_of(ended[at])
  over_at[field] = over_at[field] or math.floor(tonumber(ended[at + 1]) - LEASE * 1e15)
end
-- Where more ended than were read, the reach is the last of those.
if #ended == 40000 then reach = tonumber(ended[40000]) - LEASE * 1e15 end

local idle, newcomers = {}, {}
for _, band in ipairs({ READY, DRAINING }) do
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', members, live_range(band, now))) do
    local field = field_of(member)
    if not busy[field] then
      local pod = { field = field, since = over_at[field] }
      busy[field], idle[#idle + 1] = true, pod
      if not pod.since then newcomers[#newcomers + 1] = field end
    end
  end
end
local came = {}
in_chunks(newcomers, 5000, function(...)
  for _, text in ipairs(redis.call('HMGET', pods, ...)) do came[#came + 1] = text or '' end
end)
for at, field in ipairs(newcomers) do
  over_at[field] = math.max(reach, tonumber(string.match(came[at], '^%a/[^/]*/%d+@(%d+)/') or '') or reach)
end
for _, pod in ipairs(idle) do pod.since = over_at[pod.field] end
table.sort(idle, function(one, other)
  if one.since ~= other.since then return one.since < other.since end
  return one.field < other.field
end)
local reply = {}
for at = 1, math.min(limit, #idle) do
  reply[at] = { idle[at].field, idle[at].since }
end
return reply
