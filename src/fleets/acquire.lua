-- Grants a slot while busy < max(1, floor(ratio * live)), or finds the one this request already has.
-- KEYS: members (zset), then where the policy names a limit: bucket (string)
-- ARGV: now, ratio, open, asked, lease, ttl_ms, request, limit; request is empty where it says nothing that the lease
--       does not
-- Reply: {outcome, lease, expires_at, live, busy}; outcome is granted, ended, denied, paused or limited; for
--        limited the third is the wait in ms
local members = KEYS[1]
local now, ratio, open, asked = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1', ARGV[4] == '1'
local lease, ttl_ms, request, limit = ARGV[5], tonumber(ARGV[6]), ARGV[7], ARGV[8]

local live, busy = 0, 0
if open then
  live, busy = count_live(members, READY, now), count_live(members, LEASE, now)
end
local free = open and busy < capacity_of(live, ratio)
local gate = free and read_gate(KEYS[2], limit, now) or { wait_ms = 0 }
local entries, added = { score(LEASE, now + ttl_ms), lease }, 0
if request ~= '' then entries[3], entries[4] = score(REQUEST, ttl_ms), request end
if free and gate.wait_ms == 0 then
  added = redis.call('ZADD', members, 'NX', unpack(entries))
  if added == #entries / 2 then
    pass_gate(gate, 1, now)
    return { 'granted', lease, now + ttl_ms, live, busy + 1 }
  end
end
if free or asked then
  local found = scores_of(members, { lease, entries[4] })
  local id, value, first_ttl = lease, found[lease], (found[request] or 0) - REQUEST * 1e15
  if found[request] and first_ttl ~= ttl_ms then
    -- Another isolate took the fleet's default for another.
    id = string.gsub(lease, '/%d+(/[^/]*)$', '/' .. string.format('%.0f', first_ttl) .. '%1')
    value = tonumber(redis.call('ZSCORE', members, id) or '') or LEASE * 1e15
    if added == 1 then redis.call('ZREM', members, lease) end
  end
  if value then
    return { is_live(value, LEASE, now) and 'granted' or 'ended', id, value - LEASE * 1e15, live, busy }
  end
end
if gate.wait_ms > 0 then return { 'limited', lease, gate.wait_ms, live, busy } end
return { open and 'denied' or 'paused', lease, 0, live, busy }
