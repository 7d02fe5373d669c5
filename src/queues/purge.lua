-- Drops waiting or dead tasks with all that is kept of them.
-- KEYS: from (zset), then per member: record, failure
-- ARGV: per task: member
-- Reply: how many were there
local from, gone, kept = KEYS[1], {}, {}
for at, value in ipairs(redis.call('ZMSCORE', from, unpack(ARGV))) do
  if value then
    gone[#gone + 1] = ARGV[at]
    kept[#kept + 1], kept[#kept + 2] = KEYS[at * 2], KEYS[at * 2 + 1]
  end
end
if #gone == 0 then return 0 end
redis.call('ZREM', from, unpack(gone))
redis.call('DEL', unpack(kept))
return #gone
