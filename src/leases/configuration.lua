-- Reads what an isolate keeps in memory of a fleet: its policy and which pods are to drain.
-- KEYS: policy (string), drain (zset)
-- ARGV: now
-- Reply: {policy, drain entries}; policy is the stored JSON, or empty
local policy, drain, now = KEYS[1], KEYS[2], ARGV[1]
return { redis.call('GET', policy) or '', redis.call('ZRANGEBYSCORE', drain, '(' .. now, '+inf') }
