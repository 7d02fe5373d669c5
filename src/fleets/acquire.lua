-- Grants a slot while busy < max(1, floor(ratio * live)), or finds the one this request already has.
-- KEYS: members (zset), then where the policy names a limit: bucket (string)
-- ARGV: now, ratio, open, asked, lease, expires_at, limit, then any number of: former
-- Reply: {outcome, lease, expires_at, live, busy}; outcome is granted, ended, denied, paused or limited; for
--        limited the third is the wait in ms
local members = KEYS[1]
local now, ratio, open, asked = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1', ARGV[4] == '1'
local lease, expires_at, limit = ARGV[5], tonumber(ARGV[6]), ARGV[7]

local function repeated(id, found, live, busy)
  local deadline = found - LEASE * 1e15
  return { is_live(found, LEASE, now) and 'granted' or 'ended', id, deadline, live, busy }
end

local live, busy = 0, 0
if open then
  live, busy = count_live(members, READY, now), count_live(members, LEASE, now)
end
-- A request without ttl_ms may have been granted under an earlier default, which stands in the id.
if #ARGV > 7 then
  local found = scores_of(members, { unpack(ARGV, 8) })
  for id, value in pairs(found) do
    if value then return repeated(id, value, live, busy) end
  end
end
local free = open and busy < capacity_of(live, ratio)
local gate = free and read_gate(KEYS[2], limit, now) or { wait_ms = 0 }
local passes = free and gate.wait_ms == 0
if passes and redis.call('ZADD', members, 'NX', score(LEASE, expires_at), lease) == 1 then
  pass_gate(gate, 1, now)
  return { 'granted', lease, expires_at, live, busy + 1 }
end
if free or asked then
  local value = tonumber(redis.call('ZSCORE', members, lease) or '')
  if value then return repeated(lease, value, live, busy) end
end
if gate.wait_ms > 0 then return { 'limited', lease, gate.wait_ms, live, busy } end
return { open and 'denied' or 'paused', lease, 0, live, busy }
