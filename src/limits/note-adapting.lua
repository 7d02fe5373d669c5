-- Notes whether a limit adapts, for the cron that recomputes those which do.
-- KEYS: adapting (zset)
-- ARGV: now, limit, adapts
-- Reply: 1 when that is new, else 0
local adapting, now, limit, adapts = KEYS[1], ARGV[1], ARGV[2], ARGV[3] == '1'
if adapts then return redis.call('ZADD', adapting, now, limit) end
return redis.call('ZREM', adapting, limit)
