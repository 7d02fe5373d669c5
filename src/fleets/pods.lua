-- One page of the pods that live or hold a lease, in order of cluster and pod, with their leases.
-- KEYS: members (zset), pods (hash)
-- ARGV: now, after, limit
-- Reply: {pages, more}; a page is {field, record, {member, deadline, ...}, {lease, deadline, ...}}
local members, pods = KEYS[1], KEYS[2]
local now, after, limit = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local match, BEATS, LEASES = string.match, 3, 4

local page, entries, more = {}, {}, 0
local from = { cluster = match(after, '^[^/]*'), pod = match(after, '/(.*)$') or '' }
local function is_after(cluster, pod, other)
  return cluster > other.cluster or cluster == other.cluster and pod > other.pod
end

-- Gives a pod its place on the page, from which the last one falls when it is full. That does not come back, so what
-- stands there at the end has met all its members.
local function enter(cluster, pod, field)
  local last, at = page[limit], #page + 1
  if last then at, more, entries[last.field], page[limit] = limit, 1, nil, nil end
  while at > 1 and not is_after(cluster, pod, page[at - 1]) do at = at - 1 end
  table.insert(page, at, { cluster = cluster, pod = pod, field = field })
  entries[field] = { field, '', {}, {} }
end

for band = READY, DRAINING do
  local live, list = redis.call('ZRANGEBYSCORE', members, live_range(band, now)), band == LEASE and LEASES or BEATS
  for at = 1, #live do
    -- In a large fleet most stand in another cluster, or behind the page: they need no text of their own.
    local last, cluster = page[limit], match(live[at], '^%a/([^/]*)/')
    if last and cluster > last.cluster then
      more = 1
    elseif cluster >= from.cluster then
      local pod = match(live[at], '^%a/[^/]*/([^/]*)/')
      if last and is_after(cluster, pod, last) then
        more = 1
      elseif is_after(cluster, pod, from) then
        local field = cluster .. '/' .. pod
        if not entries[field] then enter(cluster, pod, field) end
        table.insert(entries[field][list], live[at])
      end
    end
  end
end
if #page == 0 then return { {}, 0 } end

local fields, names, reply = {}, {}, {}
for at, place in ipairs(page) do fields[at] = place.field end
for at, text in ipairs(redis.call('HMGET', pods, unpack(fields))) do
  reply[at] = entries[fields[at]]
  reply[at][2] = text or ''
  for list = BEATS, LEASES do
    for _, member in ipairs(reply[at][list]) do names[#names + 1] = member end
  end
end
local found = scores_of(members, names)
for _, entry in ipairs(reply) do
  for list = BEATS, LEASES do
    local held = entry[list]
    entry[list] = {}
    for at, member in ipairs(held) do
      entry[list][at * 2 - 1], entry[list][at * 2] = member, found[member] % 1e15
    end
  end
end
return { reply, more }
