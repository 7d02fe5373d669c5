-- Lists members of one structure of a queue, dead ones in order of id, others in their own order.
-- KEYS: ready, timers, dead (zsets)
-- ARGV: state, after, limit; state is ready, delayed, dead, or letters for dead ones that can be read
-- Reply: the members
local ready, timers, dead = KEYS[1], KEYS[2], KEYS[3]
local state, after, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])

local listed, from = {}, 0
local function next_page()
  if state == 'ready' then return redis.call('ZRANGE', ready, from, from + limit - 1) end
  if state == 'delayed' then return redis.call('ZRANGE', timers, from, from + limit - 1) end
  local start = after == '' and '-' or '(' .. after .. '0'
  return redis.call('ZRANGEBYLEX', dead, start, '+', 'LIMIT', from, limit)
end
local function belongs(member)
  if state == 'letters' then return read_dead(member) end
  return state ~= 'delayed' or member:sub(1, 2) ~= 'f/'
end
repeat
  local page = next_page()
  for _, member in ipairs(page) do
    if #listed < limit and belongs(member) then listed[#listed + 1] = member end
  end
  from = from + limit
until #page < limit or #listed == limit
return listed
