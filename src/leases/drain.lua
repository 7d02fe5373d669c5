-- Tells a pod, a cluster or a whole fleet to drain, or takes that back.
-- KEYS: drain (zset)
-- ARGV: now, entry, expires_at, limit
-- Reply: {set, drain entries}; set is 0 when the list is full and nothing was changed
local drain = KEYS[1]
local now, entry, expires_at, limit = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local entries = redis.call('ZRANGEBYSCORE', drain, '(' .. now, '+inf')
local kept, listed = {}, false
for _, one in ipairs(entries) do
  listed = listed or one == entry
  if one ~= entry then kept[#kept + 1] = one end
end
if expires_at == 0 then
  redis.call('ZREM', drain, entry)
  return { 1, kept }
end
if #kept >= limit and not listed then return { 0, entries } end
redis.call('ZREMRANGEBYSCORE', drain, '-inf', now)
redis.call('ZADD', drain, ARGV[3], entry)
redis.call('PEXPIRE', drain, string.format('%.0f', expires_at - tonumber(now)))
kept[#kept + 1] = entry
return { 1, kept }
