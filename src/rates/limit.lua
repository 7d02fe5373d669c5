-- A limit as it comes with a call, and the bucket it finds.
-- Its text is: cost, shadow, then its configurations, oldest first, each: kind, capacity, rate, set_at; the
-- fraction of set_at tells apart what was set in the same ms.
local function read_limit(text)
  local cost, shadow, rest = string.match(text, '^(%S+) (%S+) (.*)$')
  local limit = { cost = tonumber(cost), shadow = shadow == '1', configurations = {} }
  for kind, capacity, rate, set_at in string.gmatch(rest, '([tl]) (%S+) (%S+) (%S+)') do
    table.insert(limit.configurations, { kind = kind, capacity = tonumber(capacity), rate = tonumber(rate),
                                         set_at = tonumber(set_at) })
  end
  return limit
end

-- The old bucket as it lives on under a newer configuration: nothing is given, promised turns stay promised.
local function moved(old, to)
  local at = math.max(math.floor(to.set_at), old.since)
  local balance = balance_of(old, at)
  local spent, level = old.capacity - balance
  if to.kind == 't' then
    level = math.max(-to.capacity, math.min(to.capacity, balance))
  elseif old.kind == 't' then
    level = math.max(0, to.capacity - spent)
  else
    level = to.capacity - math.ceil(spent * to.rate / old.rate)
  end
  return { kind = to.kind, level = level, since = at, capacity = to.capacity, rate = to.rate,
           set_at = to.set_at }
end

-- A bucket that is not there was full under the first configuration; one newer than our configuration keeps
-- its own. `changed` when it was there and has just been moved.
local function bucket_at(text, limit, now)
  local first = limit.configurations[1]
  local stored = read_bucket(text, now)
  local bucket = stored or { kind = first.kind, level = first.capacity, since = math.floor(first.set_at),
                             capacity = first.capacity, rate = first.rate, set_at = first.set_at }
  for _, configuration in ipairs(limit.configurations) do
    if configuration.set_at > bucket.set_at then bucket = moved(bucket, configuration) end
  end
  bucket.changed = stored ~= nil and stored ~= bucket
  return bucket
end
