-- Removes the configuration of a limit; its buckets end by themselves.
-- KEYS: configuration (string), pace (string)
-- ARGV: none
-- Reply: 1 when there was one, else 0
local configuration, pace = KEYS[1], KEYS[2]
redis.call('DEL', pace)
return redis.call('DEL', configuration)
