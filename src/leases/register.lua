-- Notes that fleets were heard of, and forgets those that were not for `silence_ms`.
-- KEYS: fleets (zset)
-- ARGV: now, silence_ms, fleet
-- Reply: OK
local fleets, now, silence_ms, fleet = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
redis.call('ZADD', fleets, ARGV[1], fleet)
redis.call('ZREMRANGEBYSCORE', fleets, '-inf', string.format('%.0f', now - silence_ms))
redis.call('PEXPIRE', fleets, ARGV[2])
return 'OK'
