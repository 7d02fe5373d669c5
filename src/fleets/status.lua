-- Counts a fleet whole, by cluster and by class.
-- KEYS: members (zset)
-- ARGV: now
-- Reply: {live, busy, starting, draining, by cluster, by class}; lists of: cluster, live, busy; class, busy
local members, now = KEYS[1], tonumber(ARGV[1])
local order, clusters = {}, {}
local classes, held = {}, {}

-- A large fleet is read whole, so each member is looked at once.
local function tally(band, place, pattern)
  local live, match = redis.call('ZRANGEBYSCORE', members, live_range(band, now)), string.match
  for at = 1, #live do
    local name, class = match(live[at], pattern)
    local cluster = clusters[name]
    if not cluster then
      cluster = { name, 0, 0 }
      clusters[name] = cluster
      order[#order + 1] = cluster
    end
    cluster[place] = cluster[place] + 1
    if class then
      if not held[class] then
        held[class] = { class, 0 }
        classes[#classes + 1] = held[class]
      end
      held[class][2] = held[class][2] + 1
    end
  end
  return #live
end

local live = tally(READY, 2, '^%a/([^/]*)/')
local busy = tally(LEASE, 3, '^%a/([^/]*)/[^/]*/[^/]*/([^/]*)/')
return { live, busy, count_live(members, STARTING, now), count_live(members, DRAINING, now), order, classes }
