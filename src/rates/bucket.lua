-- A bucket, and how its balance changes with time: what every script shares that spends from a limit.
-- Amounts are whole micro-tokens, rates micro-tokens a second, times ms. Its text is: kind (t or l), level,
-- since, capacity, rate, set_at. Its balance is level + what was earned since then, at most capacity; taking
-- lowers the level alone, so nothing is rounded twice. A leaky bucket's line is what it lacks to capacity.
local SPARE_MS, LONGEST_MS, HOUR_MS, FOLD = 60000, 5184000000, 3600000, 1e15

local function earned_of(bucket, now)
  return math.floor(math.max(0, now - bucket.since) * bucket.rate / 1000)
end

local function balance_of(bucket, now)
  return math.min(bucket.capacity, bucket.level + earned_of(bucket, now))
end

-- The first time from now on at which the balance is enough; exact, since it asks the formula that grants.
local function time_of(bucket, amount, now)
  local enough = math.min(amount, bucket.capacity)
  local at = math.max(now, bucket.since + math.ceil((enough - bucket.level) * 1000 / bucket.rate))
  while balance_of(bucket, at) < enough do at = at + 1 end
  while at > now and balance_of(bucket, at - 1) >= enough do at = at - 1 end
  return at
end

-- Junk, a time from the future and a debt beyond all bounds are no bucket; NaN fails every comparison.
local function read_bucket(text, now)
  local kind, numbers = string.match(text or '', '^([tl]) (.*)$')
  local found = {}
  for number in string.gmatch(numbers or '', '%S+') do found[#found + 1] = tonumber(number) end
  local level, since, capacity, rate, set_at = unpack(found)
  if #found ~= 5 then return nil end
  local sane = capacity >= 1 and capacity <= 1e15 and rate > 0 and rate <= 1e15 and level <= capacity
    and since <= now + HOUR_MS and set_at <= now + HOUR_MS
    and since + (capacity - level) * 1000 / rate <= now + LONGEST_MS + HOUR_MS
  if not sane then return nil end
  return { kind = kind, level = level, since = since, capacity = capacity, rate = rate, set_at = set_at }
end

-- Changes the balance by any amount, up or down; a debt is at most the capacity.
local function spend(bucket, cost, now)
  local balance = balance_of(bucket, now)
  local left = math.max(math.min(-bucket.capacity, balance), math.min(bucket.capacity, balance - cost))
  -- At full what is earned beyond is lost, and long before a sum outgrows a double it is folded in.
  if balance >= bucket.capacity or left ~= balance - cost or earned_of(bucket, now) > FOLD then
    bucket.level, bucket.since = left, math.max(now, bucket.since)
  else
    bucket.level = bucket.level - cost
  end
end

local function write_bucket(key, bucket, now)
  local text = string.format('%s %.0f %.17g %.0f %.17g %.17g', bucket.kind, bucket.level, bucket.since,
    bucket.capacity, bucket.rate, bucket.set_at)
  local ttl_ms = time_of(bucket, bucket.capacity, now) - now + SPARE_MS
  redis.call('SET', key, text, 'PX', string.format('%.0f', ttl_ms))
end
