-- A bucket, and how its balance changes with time: what every script shares that spends from a limit.
-- Amounts are whole micro-tokens, rates micro-tokens a second, times ms. Its text is: kind (t or l), level, since,
-- capacity, rate, set_at. Its balance is level + what was earned since then, at most capacity; taking lowers the
-- level alone, so nothing is rounded twice. A leaky bucket's line is what it lacks to capacity.
local SPARE_MS, LONGEST_MS, HOUR_MS, FOLD = 60000, 5184000000, 3600000, 1e15
local floor, ceil, most, least, match = math.floor, math.ceil, math.max, math.min, string.match

local function earned_of(bucket, now)
  if now <= bucket.since then return 0 end
  return floor((now - bucket.since) * bucket.rate / 1000)
end

local function balance_of(bucket, now)
  return least(bucket.capacity, bucket.level + earned_of(bucket, now))
end

-- The first time from now on at which the balance is enough; exact, since it asks the formula that grants.
local function time_of(bucket, amount, now)
  local enough = least(amount, bucket.capacity)
  local at = most(now, bucket.since + ceil((enough - bucket.level) * 1000 / bucket.rate))
  while balance_of(bucket, at) < enough do at = at + 1 end
  while at > now and balance_of(bucket, at - 1) >= enough do at = at - 1 end
  return at
end

-- Junk, a time from the future and a debt beyond all bounds are no bucket; NaN fails every comparison.
local function read_bucket(text, now)
  local kind, level, since, rules, capacity, rate, set_at =
    match(text or '', '^([tl]) (%S+) (%S+) ((%S+) (%S+) (%S+))$')
  if not kind then return nil end
  local rate_text = rate
  level, since, capacity, rate, set_at =
    tonumber(level), tonumber(since), tonumber(capacity), tonumber(rate), tonumber(set_at)
  if not (level and since and capacity and rate and set_at) then return nil end
  local sane = capacity >= 1 and capacity <= 1e15 and rate > 0 and rate <= 1e15 and level <= capacity
    and since <= now + HOUR_MS and set_at <= now + HOUR_MS
    and since + (capacity - level) * 1000 / rate <= now + LONGEST_MS + HOUR_MS
  if not sane then return nil end
  return { kind = kind, level = level, since = since, capacity = capacity, rate = rate, set_at = set_at,
           rules = rules, rate_text = rate_text }
end

-- Changes the balance by any amount, up or down; a debt is at most the capacity. Gives the new balance.
local function spend(bucket, cost, now)
  local earned, capacity = earned_of(bucket, now), bucket.capacity
  local balance = least(capacity, bucket.level + earned)
  local left = most(least(-capacity, balance), least(capacity, balance - cost))
  -- At full what is earned beyond is lost, and long before a sum outgrows a double it is folded in.
  if balance == capacity or left ~= balance - cost or earned > FOLD then
    bucket.level, bucket.since = left, most(now, bucket.since)
  else
    bucket.level = bucket.level - cost
  end
  return left
end

local function write_bucket(key, bucket, now)
  local full_at = bucket.since + ceil((bucket.capacity - bucket.level) * 1000 / bucket.rate)
  local text = string.format('%s %.0f %.0f %s', bucket.kind, bucket.level, bucket.since, bucket.rules)
  redis.call('SET', key, text, 'PX', string.format('%.0f', most(0, full_at - now) + SPARE_MS))
end
