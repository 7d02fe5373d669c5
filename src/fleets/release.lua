-- Ends leases that still live; their members stay, lapsed, so that a late repeat of their request is known.
-- KEYS: members (zset)
-- ARGV: now, then any number of: lease
-- Reply: 1 for each lease ended, 0 for each that was not live
local members, now = KEYS[1], tonumber(ARGV[1])
if #ARGV == 2 then
  return { rescore(members, 'LT', 'CH', ended_at(now), ARGV[2]) }
end

local found = scores_of(members, { unpack(ARGV, 2) })
local reply, entries = {}, {}
for at = 2, #ARGV do
  local live = is_live(found[ARGV[at]], LEASE, now)
  reply[at - 1] = live and 1 or 0
  if live then
    entries[#entries + 1] = ended_at(now)
    entries[#entries + 1] = ARGV[at]
  end
end
if #entries > 0 then rescore(members, unpack(entries)) end
return reply
