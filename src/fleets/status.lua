-- Counts a fleet whole, by cluster and by class.
-- KEYS: members (zset)
-- ARGV: now
-- Reply: {live, busy, starting, draining, by cluster, by class}; lists of: cluster, live, busy; class, busy
local members, now = KEYS[1], tonumber(ARGV[1])
local order, clusters = {}, {}
local classes, held = {}, {}

local function tally(band, place)
  local live = redis.call('ZRANGEBYSCORE', members, live_range(band, now))
  for _, member in ipairs(live) do
    local name = string.match(member, '^%a/([^/]*)/')
    local cluster = clusters[name]
    if not cluster then
      cluster = { name, 0, 0 }
      clusters[name] = cluster
      order[#order + 1] = cluster
    end
    cluster[place] = cluster[place] + 1
    local class = band == LEASE and string.match(member, '^%a/[^/]*/[^/]*/[^/]*/([^/]*)/')
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

local live, busy = tally(READY, 2), tally(LEASE, 3)
return { live, busy, count_live(members, STARTING, now), count_live(members, DRAINING, now), order, classes }
