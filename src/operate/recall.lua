-- Reads places of the rings of a history.
-- KEYS: history (hash)
-- ARGV: any number of: place
-- Reply: the sample of each place, empty where there is none
local found = redis.call('HMGET', KEYS[1], unpack(ARGV))
for at = 1, #ARGV do found[at] = found[at] or '' end
return found
