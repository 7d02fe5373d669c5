-- Pods say that they live: known ones move their deadlines, others join or replace, listed leases are renewed.
-- KEYS: members (zset), pods (hash)
-- ARGV: now, expires_at, pod_count, then per pod: field, kind, instance, slots, memory, labels,
--       then per lease: owner, lease, lease_expires_at
-- Reply: {stale pods, joined pods, lost leases, live, busy}: 1-based places; counts where the one pod joined, else -1
local members, pods = KEYS[1], KEYS[2]
local now, expires_at, pod_count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local list = read_pods(4, pod_count)
local leases = read_leases(4 + pod_count * 6, list)

-- What the isolate remembers only picks the way: where it is wrong, the next one is taken.
local names, all_same = {}, true
for _, pod in ipairs(list) do
  all_same = all_same and pod.memory == 'same'
  for _, member in ipairs(pod.members) do names[#names + 1] = member end
end
for _, lease in ipairs(leases) do names[#names + 1] = lease.id end
if all_same and #leases == 0 and all_moved(members, list, expires_at) then return { {}, {}, {}, -1, -1 } end

local found, strangers = {}, {}
if pod_count > 1 or #leases > 0 then found = scores_of(members, names) end
for _, pod in ipairs(list) do
  for _, member in ipairs(pod.members) do
    pod.strange = pod.strange or not found[member] or found[member] >= REPLACED * 1e15
  end
  if pod.strange then strangers[#strangers + 1] = pod end
end
local known, fresh = known_records(pods, strangers, now)

local stale, joined, lost, records, entries, unknown = {}, {}, {}, {}, {}, 0
local function enter(value, member)
  entries[#entries + 1] = string.format('%.0f', value)
  entries[#entries + 1] = member
end
for place, pod in ipairs(list) do
  local old = read_record(known[pod.field])
  if old and is_older(pod.instance, old.instance) and guards(members, pod.field, old, now) then
    stale[#stale + 1], pod.stale = place, true
  else
    local mine, text = {}, write_record(pod, old, now)
    for _, member in ipairs(pod.members) do
      mine[member] = true
      enter(BAND_OF[pod.kind] * 1e15 + expires_at, member)
    end
    if pod.strange and not old then unknown = unknown + 1 end
    if pod.strange and text ~= known[pod.field] then
      joined[#joined + 1] = place
      if not fresh then records[#records + 1], records[#records + 2] = pod.field, text end
      local before = old and slot_members(old.kind, pod.field, old.instance, old.slots) or {}
      for _, member in ipairs(before) do
        if not mine[member] then enter(REPLACED * 1e15 + now, member) end
      end
    end
  end
end
for place, lease in ipairs(leases) do
  if not lease.owner.stale and is_live(found[lease.id], LEASE, now) then
    enter(math.max(lease.value, found[lease.id]), lease.id)
  else
    lost[#lost + 1] = place
  end
end

-- A store without memory takes in no new pod that comes alone, but no beat of one that it knows is lost for that.
local function write(...)
  local reply, refused = try(...)
  if refused and unknown == #list then error(reply) end
  if refused then insist(members, ...) end
end
in_chunks(records, 7000, function(...) write('HSET', pods, ...) end)
in_chunks(entries, 7000, function(...) write('ZADD', members, ...) end)
if pod_count > 1 or #joined == 0 then return { stale, joined, lost, -1, -1 } end
return { stale, joined, lost, count_live(members, READY, now), count_live(members, LEASE, now) }
