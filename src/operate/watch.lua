-- Reads what events are told from: the pods in each state, the leases that lapsed, and the policy.
-- KEYS: members (zset), policy (string)
-- ARGV: now, since, limit
-- Reply: {live, busy, policy, pod members, lapsed leases, more}; more is 1 where there are more pods than `limit`
local members, policy = KEYS[1], KEYS[2]
local now, since, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local pods, lapsed, more = {}, {}, 0
local from, to = live_range(READY, now)
for at, member in ipairs(redis.call('ZRANGEBYSCORE', members, from, to, 'LIMIT', 0, limit + 1)) do pods[at] = member end
local ready = #pods
-- Two bands in one command, with those between them that drained until a while ago.
from, to = live_range(STARTING, now), '(' .. score(REPLACED, 0)
local others = redis.call('ZRANGEBYSCORE', members, from, to, 'WITHSCORES', 'LIMIT', 0, 2 * limit)
for at = 1, #others, 2 do
  local value = tonumber(others[at + 1])
  if is_live(value, STARTING, now) or is_live(value, DRAINING, now) then pods[#pods + 1] = others[at] end
end
if #pods > limit or #others == 4 * limit then
  pods, more, ready = {}, 1, count_live(members, READY, now)
end
-- A task's lease that was found lapsed has been put aside among what was replaced.
for band, pattern in pairs({ [LEASE] = '', [REPLACED] = '^t/' }) do
  from, to = band * 1e15 + since + 0.5, band * 1e15 + now + 0.5
  local ended = redis.call('ZRANGEBYSCORE', members, string.format('(%.1f', from), string.format('%.1f', to),
                           'WITHSCORES', 'LIMIT', 0, limit)
  for at = 1, #ended, 2 do
    if tonumber(ended[at + 1]) % 1 == 0 and ended[at]:find(pattern) then lapsed[#lapsed + 1] = ended[at] end
  end
end
return { ready, count_live(members, LEASE, now), redis.call('GET', policy) or '', pods, lapsed, more }
