-- Adds what an isolate has counted to the totals it belongs to.
-- KEYS: totals (hash)
-- ARGV: key_ttl_ms, then any number of: field, by
-- Reply: OK
local totals, key_ttl_ms = KEYS[1], ARGV[1]
local fields, entries, known = {}, {}, false
for at = 2, #ARGV, 2 do fields[#fields + 1] = ARGV[at] end
for at, before in ipairs(redis.call('HMGET', totals, unpack(fields))) do
  known = known or before
  entries[at * 2 - 1] = fields[at]
  entries[at * 2] = string.format('%.0f', (tonumber(before or '') or 0) + tonumber(ARGV[at * 2 + 1]))
end
redis.call('HSET', totals, unpack(entries))
if not known then redis.call('PEXPIRE', totals, key_ttl_ms) end
return 'OK'
