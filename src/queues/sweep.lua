-- Does without a poller what a claim does first: due tasks become ready, lapsed deliveries ready again or dead.
-- KEYS: members, ready, timers, running, dead (fleet's zset, zset, zset, hash, zset)
-- ARGV: now, max_deliveries, limit
-- Reply: how many timers were looked at
local keys = { members = KEYS[1], ready = KEYS[2], timers = KEYS[3], running = KEYS[4], dead = KEYS[5] }
local now, max_deliveries, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
return move_due(keys, now, max_deliveries, limit)
