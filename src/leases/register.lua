-- Notes that a name was heard of, and forgets those that were not for `silence_ms`.
-- KEYS: names (zset)
-- ARGV: now, silence_ms, name
-- Reply: OK
local names, now, silence_ms, name = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
redis.call('ZADD', names, now, name)
redis.call('ZREMRANGEBYSCORE', names, '-inf', string.format('%.0f', tonumber(now) - tonumber(silence_ms)))
redis.call('PEXPIRE', names, silence_ms)
return 'OK'
