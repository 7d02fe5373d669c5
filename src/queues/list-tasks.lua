-- Lists members of one structure of a queue: dead ones in order of their id, others in their own order.
-- KEYS: ready, timers, dead (zsets)
-- ARGV: state, after, limit
-- Reply: the members; of timers all but deliveries
local ready, timers, dead = KEYS[1], KEYS[2], KEYS[3]
local state, after, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
if state == 'dead' then
  return redis.call('ZRANGEBYLEX', dead, after == '' and '-' or '(' .. after .. '0', '+', 'LIMIT', 0, limit)
end
if state == 'ready' then return redis.call('ZRANGE', ready, 0, limit - 1) end
local delayed, from = {}, 0
repeat
  local page = redis.call('ZRANGE', timers, from, from + limit - 1)
  for _, timer in ipairs(page) do
    if timer:sub(1, 2) ~= 'f/' and #delayed < limit then delayed[#delayed + 1] = timer end
  end
  from = from + limit
until #page < limit or #delayed == limit
return delayed
