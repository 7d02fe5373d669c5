-- A pod goes: it stops counting at once, and every lease its instance holds is released.
-- KEYS: members (zset), pods (hash)
-- ARGV: now, field, instance, lease_prefix
-- Reply: {left, released leases}; left is 1 when this instance was the one counted
local members, pods = KEYS[1], KEYS[2]
local now, field, instance, lease_prefix = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]

local record = read_record(redis.call('HGET', pods, field))
local live = redis.call('ZRANGEBYSCORE', members, '(' .. score(LEASE, now), '(' .. score(LEASE + 1, 0))
local released, entries = {}, {}
for _, lease in ipairs(live) do
  if lease:sub(1, #lease_prefix) == lease_prefix then
    released[#released + 1] = lease
    entries[#entries + 1] = score(LEASE, now)
    entries[#entries + 1] = lease
  end
end
if record and record.instance == instance then
  for _, member in ipairs(slot_members(record.kind, field, instance, record.slots)) do
    entries[#entries + 1] = score(BAND_OF[record.kind], now)
    entries[#entries + 1] = member
  end
end
local ended = 0
in_chunks(entries, 7000, function(...) ended = ended + redis.call('ZADD', members, 'XX', 'LT', 'CH', ...) end)
return { ended > #released and 1 or 0, released }
