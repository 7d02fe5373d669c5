-- Drops waiting or dead tasks with all that is kept of them.
-- KEYS: from (zset), then per member: record, failure
-- ARGV: per task: member
-- Reply: how many were there
local from, gone = KEYS[1], 0
for at, member in ipairs(ARGV) do
  local record, failure = KEYS[at * 2], KEYS[at * 2 + 1]
  if redis.call('ZREM', from, member) == 1 then
    gone = gone + 1
    redis.call('DEL', record, failure)
  end
end
return gone
