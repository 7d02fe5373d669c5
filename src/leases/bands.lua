-- What every script on a fleet's members shares: bands of scores, the order of instances, the capacity.
-- A member's score is band * 1e15 + deadline (ms); it is live while its deadline lies after now. A request's is
-- band * 1e15 + the ttl that its lease was given.
local READY, LEASE, STARTING, DRAINING, REPLACED, REQUEST = 0, 1, 2, 3, 4, 5
local BAND_OF = { p = READY, s = STARTING, d = DRAINING }

-- As text, since tostring would drop digits.
local function score(band, deadline)
  return string.format('%.0f', band * 1e15 + deadline)
end

-- A lease that was ended has half a millisecond in its deadline: so a renewal whose now is older, since it was on its
-- way meanwhile, knows it from one that lives.
local function ended_at(now)
  return string.format('%.1f', LEASE * 1e15 + now + 0.5)
end

local function is_live(value, band, now)
  return value and value > band * 1e15 + now and value < (band + 1) * 1e15 and value % 1 == 0
end

-- The scores of a band that are live after now, as range commands take them.
local function live_range(band, now)
  return '(' .. string.format('%.1f', band * 1e15 + now + 0.5), '(' .. score(band + 1, 0)
end

local function count_live(members, band, now)
  return redis.call('ZCOUNT', members, live_range(band, now))
end

local function capacity_of(live, ratio)
  return math.max(1, math.floor(ratio * live / 10000))
end

-- Redis sets the collation from its locale, so < on strings is not bytewise everywhere.
local function is_older(one, other)
  for at = 1, math.min(#one, #other) do
    local a, b = one:byte(at), other:byte(at)
    if a ~= b then return a < b end
  end
  return #one < #other
end
