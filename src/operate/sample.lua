-- Keeps a sample of a fleet in the rings of its history, in the places of a day and of a month ago.
-- KEYS: members (zset), history (hash)
-- ARGV: now, ratio, minute, quarter, reach_ms, key_ttl_ms, renew, then any number of: denials
-- Reply: the sample: at, live, busy, capacity, then the totals of grants, denials and lapsed
local members, history = KEYS[1], KEYS[2]
local now, ratio, minute, quarter = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]
local reach_ms, key_ttl_ms, renew = tonumber(ARGV[5]), ARGV[6], ARGV[7] == '1'

local live, busy = count_live(members, READY, now), count_live(members, LEASE, now)
local totals = redis.call('HMGET', history, 'sampled_at', 'lapsed', 'grants', unpack(ARGV, 8))
local lapsed, denials = tonumber(totals[2] or '') or 0, 0
for at = 4, #totals do denials = denials + (tonumber(totals[at] or '') or 0) end

-- What ended since the last sample still stands in the set: on a whole deadline if it lapsed, on a half if by a call. A
-- task's lease that was found lapsed has been put aside among what was replaced.
local since = math.max(tonumber(totals[1] or '') or 0, now - reach_ms)
for band, pattern in pairs({ [LEASE] = '', [REPLACED] = '^t/' }) do
  local from, to = band * 1e15 + since + 0.5, band * 1e15 + now + 0.5
  local ended = redis.call('ZRANGEBYSCORE', members, string.format('(%.1f', from), string.format('%.1f', to),
                           'WITHSCORES', 'LIMIT', 0, 100000)
  for at = 1, #ended, 2 do
    if tonumber(ended[at + 1]) % 1 == 0 and ended[at]:find(pattern) then lapsed = lapsed + 1 end
  end
end

local sample = string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f', now, live, busy, capacity_of(live, ratio),
                             tonumber(totals[3] or '') or 0, denials, lapsed)
redis.call('HSET', history, 'sampled_at', ARGV[1], 'lapsed', string.format('%.0f', lapsed), minute, sample,
           quarter, sample)
if renew or not totals[1] then redis.call('PEXPIRE', history, key_ttl_ms) end
return sample
