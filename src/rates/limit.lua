-- A limit as it comes with a call, and the bucket it finds.
-- Its text is: cost, shadow, then its configurations, oldest first, each: kind, capacity, rate, set_at; the
-- fraction of set_at tells apart what was set in the same ms.
local function read_limit(text)
  local cost, shadow, rest = match(text, '^(%S+) (%S+) (.*)$')
  return { cost = tonumber(cost), shadow = shadow == '1', configurations = rest }
end

-- The old bucket as it lives on under a newer configuration: nothing is given, promised turns stay promised.
local function move(bucket, to)
  local at = most(floor(to.set_at), bucket.since)
  local balance = balance_of(bucket, at)
  local spent = bucket.capacity - balance
  if to.kind == 't' then
    to.level = most(-to.capacity, least(to.capacity, balance))
  elseif bucket.kind == 't' then
    to.level = most(0, to.capacity - spent)
  else
    to.level = to.capacity - ceil(spent * to.rate / bucket.rate)
  end
  to.since = at
  return to
end

-- A bucket that is not there was full under the first configuration; one newer than our configuration keeps
-- its own. `changed` when it was there and has just been moved.
local function bucket_at(text, limit, now)
  local stored = read_bucket(text, now)
  local bucket = stored
  for kind, rules, capacity, rate, set_at in
    string.gmatch(limit.configurations, '([tl]) ((%S+) (%S+) (%S+))') do
    local newer = { kind = kind, rules = rules, rate_text = rate, capacity = tonumber(capacity),
                    rate = tonumber(rate), set_at = tonumber(set_at) }
    if not bucket then
      bucket, newer.level, newer.since = newer, newer.capacity, floor(newer.set_at)
    elseif newer.set_at > bucket.set_at then
      bucket = move(bucket, newer)
    end
  end
  bucket.changed = stored ~= nil and stored ~= bucket
  return bucket
end
