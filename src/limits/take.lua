-- Takes from every limit named, or from none; where the request took before, it is not taken from again.
-- KEYS: any number of: bucket (string), request (string)
-- ARGV: now, request_ttl_ms, then any number of: limit
-- Reply: {allowed, takes}; a take is: outcome (taken, kept or refused), balance, delay_ms, wait_ms, rate
local now, request_ttl_ms = tonumber(ARGV[1]), ARGV[2]

local texts, takes, allowed = redis.call('MGET', unpack(KEYS)), {}, 1
for place = 1, #KEYS / 2 do
  local limit = read_limit(ARGV[place + 2])
  local bucket = bucket_at(texts[place * 2 - 1], limit, now)
  local take = { cost = limit.cost, bucket = bucket, outcome = 'taken', turn_at = now, wait_ms = 0 }
  take.balance = balance_of(bucket, now)
  local turn_at = match(texts[place * 2] or '', '^%d+ (%d+) ')
  if turn_at then
    take.outcome, take.turn_at = 'kept', tonumber(turn_at)
  elseif take.cost > take.balance then
    -- A cost above a newer, smaller capacity never fits; the caller hears so once its configuration is fresh.
    take.outcome, take.wait_ms = 'refused', most(1, time_of(bucket, take.cost, now) - now)
    if not limit.shadow then allowed = 0 end
  elseif bucket.kind == 'l' then
    take.turn_at = time_of(bucket, bucket.capacity, now)
  end
  takes[place] = take
end

local replies = {}
for place, take in ipairs(takes) do
  local bucket, spent = take.bucket, allowed == 1 and take.outcome == 'taken'
  if spent then take.balance = spend(bucket, take.cost, now) end
  if spent or bucket.changed then write_bucket(KEYS[place * 2 - 1], bucket, now) end
  if spent and request_ttl_ms ~= '0' then
    local text = string.format('%.0f %.0f %.0f/%.0f open', take.cost, take.turn_at, bucket.level, bucket.since)
    redis.call('SET', KEYS[place * 2], text, 'PX', request_ttl_ms)
  end
  replies[place] = { take.outcome, most(0, take.balance), most(0, take.turn_at - now), take.wait_ms,
                     bucket.rate_text }
end
return { allowed, replies }
