-- Makes dead tasks ready again with a fresh count, in the place their age gives them.
-- KEYS: ready, dead (zsets)
-- ARGV: limit, then any number of: id
-- Reply: how many
local ready, dead, limit = KEYS[1], KEYS[2], tonumber(ARGV[1])
local found = {}
if #ARGV == 1 then found = redis.call('ZRANGE', dead, 0, limit - 1) end
for at = 2, #ARGV do
  local id = ARGV[at]
  found[#found + 1] = redis.call('ZRANGEBYLEX', dead, '[' .. id .. '/', '(' .. id .. '0', 'LIMIT', 0, 1)[1]
end
local entries, gone = {}, {}
for _, member in ipairs(found) do
  local task = read_dead(member)
  gone[#gone + 1] = member
  if task then
    task.deliveries, task.deferred, task.first, task.last = 0, 0, '', ''
    entries[#entries + 1], entries[#entries + 2] = order_of(task), write_task(task)
  end
end
if #entries > 0 then redis.call('ZADD', ready, unpack(entries)) end
if #gone > 0 then redis.call('ZREM', dead, unpack(gone)) end
return #entries / 2
