-- Replaces the configuration of a limit, which then starts from its configured rate.
-- KEYS: configuration (string), pace (string)
-- ARGV: text
-- Reply: OK
local configuration, pace, text = KEYS[1], KEYS[2], ARGV[1]
redis.call('DEL', pace)
return redis.call('SET', configuration, text)
