-- Reads what events are told from: the pods in each state, the leases that lapsed, and the policy.
-- KEYS: members (zset), policy (string)
-- ARGV: now, since, limit
-- Reply: {live, busy, policy, pod members, lapsed leases, more}; more is 1 where there are more pods than `limit`
local members, policy = KEYS[1], KEYS[2]
local now, since, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local pods, lapsed, more, ready = {}, {}, 0, nil
for _, band in ipairs({ READY, STARTING, DRAINING }) do
  local from, to = live_range(band, now)
  local live = redis.call('ZRANGEBYSCORE', members, from, to, 'LIMIT', 0, limit - #pods + 1)
  for _, member in ipairs(live) do pods[#pods + 1] = member end
  ready = ready or #live
end
if #pods > limit then
  pods, more, ready = {}, 1, count_live(members, READY, now)
end
local ended = redis.call('ZRANGEBYSCORE', members, '(' .. ended_at(since), ended_at(now), 'WITHSCORES',
                         'LIMIT', 0, limit)
for at = 1, #ended, 2 do
  if tonumber(ended[at + 1]) % 1 == 0 then lapsed[#lapsed + 1] = ended[at] end
end
return { ready, count_live(members, LEASE, now), redis.call('GET', policy) or '', pods, lapsed, more }
