-- A pod goes: it stops counting at once, and every lease its instance holds is released.
-- KEYS: members (zset), pods (hash)
-- ARGV: now, field, instance
-- Reply: {left, released leases, task leases}; left is 1 when this instance was counted; task leases are only told
local members, pods = KEYS[1], KEYS[2]
local now, field, instance = tonumber(ARGV[1]), ARGV[2], ARGV[3]

local record = read_record(redis.call('HGET', pods, field))
local live = redis.call('ZRANGEBYSCORE', members, live_range(LEASE, now))
local mine = '/' .. field .. '/' .. instance .. '/'
local released, tasks, entries = {}, {}, {}
for _, lease in ipairs(live) do
  local ours, kind = lease:sub(2, #mine + 1) == mine, lease:sub(1, 1)
  if ours and kind == 't' then
    tasks[#tasks + 1] = lease
  elseif ours then
    released[#released + 1] = lease
    entries[#entries + 1] = ended_at(now)
    entries[#entries + 1] = lease
  end
end
if record and record.instance == instance then
  for _, member in ipairs(slot_members(record.kind, field, instance, record.slots)) do
    -- The half tells one that left from one that lapsed, as with leases.
    entries[#entries + 1] = string.format('%.1f', BAND_OF[record.kind] * 1e15 + now + 0.5)
    entries[#entries + 1] = member
  end
end
local changed = 0
in_chunks(entries, 7000, function(...) changed = changed + rescore(members, 'LT', 'CH', ...) end)
return { changed > #released and 1 or 0, released, tasks }
