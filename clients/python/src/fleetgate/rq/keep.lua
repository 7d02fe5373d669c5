-- Renews a claim that nobody has given to another yet, even one that has just lapsed.
-- KEYS: the queue's set of claims
-- ARGV: member, ttl_ms, shorten (1: the new end may lie before the old one)
-- Reply: 1, or 0 when the claim has ended
local member, ttl_ms, shorten = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'

local ends_at = redis.call('ZSCORE', KEYS[1], member)
if not ends_at then
  return 0
end
local time = redis.call('TIME')
local later = time[1] * 1000 + math.floor(time[2] / 1000) + ttl_ms
if shorten or later > tonumber(ends_at) then
  redis.call('ZREM', KEYS[1], member) -- a Redis without memory refuses a script whose first write adds
  redis.call('ZADD', KEYS[1], later, member)
end
return 1
