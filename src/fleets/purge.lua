-- Drops what has lapsed and is no longer asked about, at most `limit` of each kind, and renews the keys' lifetime.
-- KEYS: members (zset), pods (hash)
-- ARGV: now, limit, lease_memory_ms, pod_memory_ms, key_ttl_ms
-- Reply: 1 when more may be left, else 0
local members, pods = KEYS[1], KEYS[2]
local now, limit, lease_memory_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local pod_memory_ms, key_ttl_ms = tonumber(ARGV[4]), ARGV[5]

local more = 0
local function lapsed(band, before)
  local list = redis.call('ZRANGEBYSCORE', members, score(band, 0), score(band, before), 'LIMIT', 0, limit)
  if #list == limit then more = 1 end
  return list
end
local function drop(list)
  in_chunks(list, 5000, function(...) redis.call('ZREM', members, ...) end)
end

local leases = lapsed(LEASE, now - lease_memory_ms)
for at = 1, #leases do
  -- The request under which it was granted, if it has a member of its own.
  local holder, request = string.match(leases[at], '^l(/[^/]*/[^/]*/[^/]*/[^/]*)/%d+(/[^/]*)$')
  if holder then leases[#leases + 1] = 'r' .. holder .. request end
end
drop(leases)
drop(lapsed(REPLACED, now))
for _, band in ipairs({ READY, STARTING, DRAINING }) do
  local list, fields, dropped = lapsed(band, now - pod_memory_ms), {}, {}
  for _, member in ipairs(list) do
    local field = string.match(member, '^%a/([^/]*/[^/]*)/')
    if field and not dropped[field] then fields[#fields + 1] = field end
    dropped[field or ''], dropped[member] = true, true
  end
  -- The record may be a newer instance's by now, or the pod may be back in another state or with fewer slots.
  local gone = {}
  in_chunks(fields, 5000, function(...)
    local these = { ... }
    for at, text in ipairs(redis.call('HMGET', pods, ...)) do
      local record, field = read_record(text), these[at]
      if record and dropped[slot_members(record.kind, field, record.instance, 1)[1]] then gone[#gone + 1] = field end
    end
  end)
  drop(list)
  in_chunks(gone, 5000, function(...) redis.call('HDEL', pods, ...) end)
end
redis.call('PEXPIRE', members, key_ttl_ms)
redis.call('PEXPIRE', pods, key_ttl_ms)
return more
