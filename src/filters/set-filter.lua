-- Replaces or removes the configuration of a filter, and drops the shards that it no longer names or begins anew.
-- KEYS: configuration (string), then any number of: shard (string)
-- ARGV: before, text: the version it is thought to have, empty for none; an empty text removes
-- Reply: 1 when that was done, 0 when it has another version by now
local configuration, before, text = KEYS[1], ARGV[1], ARGV[2]
local found = redis.call('MGET', configuration)[1]
if (found and string.match(found, '^(%S+) ') or '') ~= before then return 0 end
if text == '' then
  redis.call('DEL', configuration)
else
  redis.call('SET', configuration, text)
end
if #KEYS > 1 then redis.call('UNLINK', unpack(KEYS, 2)) end
return 1
