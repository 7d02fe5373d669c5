-- Reads the configuration of a filter.
-- KEYS: configuration (string)
-- ARGV: none
-- Reply: the stored text, a version and JSON; empty where there is none
local configuration = KEYS[1]
-- MGET, since a record of another type then counts as none and a PUT mends it.
return redis.call('MGET', configuration)[1] or ''
