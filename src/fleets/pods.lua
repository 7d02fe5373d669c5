-- One page of the pods that live or hold a lease, in order of cluster/pod, with their leases.
-- KEYS: members (zset), pods (hash)
-- ARGV: now, after, limit
-- Reply: {pages, more}; a page is {field, record, {member, deadline, ...}, {lease, deadline, ...}}
local members, pods = KEYS[1], KEYS[2]
local now, after, limit = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])

local all = {}
for band = READY, DRAINING do
  local live = redis.call('ZRANGEBYSCORE', members, live_range(band, now))
  all[#all + 1] = live
end

-- The smallest `limit` fields after the cursor, kept sorted: most of a large fleet fails the first comparison.
local page, taken, more = {}, {}, 0
for _, live in ipairs(all) do
  for _, member in ipairs(live) do
    local field = string.match(member, '^%a/([^/]*/[^/]*)/')
    if field > after and not taken[field] then
      local last = page[limit]
      if last and field > last then
        more = 1
      else
        if last then more, taken[last], page[limit] = 1, nil, nil end
        taken[field] = true
        local at = #page + 1
        while at > 1 and page[at - 1] > field do at = at - 1 end
        table.insert(page, at, field)
      end
    end
  end
end
if #page == 0 then return { {}, 0 } end

local entries, names, kinds = {}, {}, {}
for at, text in ipairs(redis.call('HMGET', pods, unpack(page))) do
  entries[page[at]] = { page[at], text or '', {}, {} }
end
for place, live in ipairs(all) do
  for _, member in ipairs(live) do
    local field = string.match(member, '^%a/([^/]*/[^/]*)/')
    if taken[field] then
      names[#names + 1] = member
      kinds[member] = { entries[field][place == LEASE + 1 and 4 or 3], place - 1 }
    end
  end
end
local found = scores_of(members, names)
for _, member in ipairs(names) do
  local list, band = kinds[member][1], kinds[member][2]
  list[#list + 1] = member
  list[#list + 1] = found[member] - band * 1e15
end
local reply = {}
for at, field in ipairs(page) do reply[at] = entries[field] end
return { reply, more }
