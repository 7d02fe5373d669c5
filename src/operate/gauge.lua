-- Reads what a scrape tells of a fleet.
-- KEYS: members (zset), policy (string), history (hash)
-- ARGV: now, then any number of: total
-- Reply: {live, busy, starting, draining, policy, totals}; a total is a text, empty where nothing was counted
local members, policy, history, now = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1])
local totals = redis.call('HMGET', history, unpack(ARGV, 2))
for at = 1, #ARGV - 1 do totals[at] = totals[at] or '' end
return { count_live(members, READY, now), count_live(members, LEASE, now), count_live(members, STARTING, now),
         count_live(members, DRAINING, now), redis.call('GET', policy) or '', totals }
