-- Keeps a sample of a queue in the rings of its history, in the places of a day and of a month ago.
-- KEYS: history (hash)
-- ARGV: sample, minute, quarter, key_ttl_ms, renew
-- Reply: OK
local history, sample, minute, quarter = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local key_ttl_ms, renew = ARGV[4], ARGV[5] == '1'
local added = redis.call('HSET', history, minute, sample, quarter, sample)
if renew or added == 2 then redis.call('PEXPIRE', history, key_ttl_ms) end
return 'OK'
