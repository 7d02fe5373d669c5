-- Tells what became of pods that are no longer live.
-- KEYS: members (zset)
-- ARGV: any number of: member
-- Reply: for each member left or lapsed
local found, reply = scores_of(KEYS[1], ARGV), {}
for at, member in ipairs(ARGV) do
  local value = found[member]
  reply[at] = value and value % 1 ~= 0 and 'left' or 'lapsed'
end
return reply
