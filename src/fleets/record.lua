-- What a fleet remembers of a pod: field cluster/pod of the hash holds kind/instance/slots@since/labels,
-- `since` being when (ms) this instance came into this state;
-- its members in the set are kind/cluster/pod/instance/slot, so the record tells them all.
local GUARD_MS = 3600000

local function slot_members(kind, field, instance, slots)
  local list = {}
  for slot = 0, slots - 1 do
    list[slot + 1] = kind .. '/' .. field .. '/' .. instance .. '/' .. slot
  end
  return list
end

local function read_record(text)
  local kind, instance, slots, since, labels = string.match(text or '', '^([psd])/([^/]*)/(%d%d?)@?(%d*)/(.*)$')
  if not kind then return nil end
  return { kind = kind, instance = instance, slots = tonumber(slots), since = since, labels = labels }
end

-- The record a pod leaves when it joins; without labels it keeps those its own instance gave before.
local function write_record(pod, old, now)
  local labels, since = pod.labels, string.format('%.0f', now)
  local same = old and old.instance == pod.instance
  if same and labels == '' then labels = old.labels end
  if same and old.kind == pod.kind then since = old.since end
  return table.concat({ pod.kind, pod.instance, #pod.members .. '@' .. since, labels }, '/')
end

-- A record refuses older instances while its pod lives and for an hour after.
local function guards(members, field, record, now)
  local first = slot_members(record.kind, field, record.instance, 1)[1]
  local value = tonumber(redis.call('ZSCORE', members, first) or '')
  return value ~= nil and math.floor(value) - BAND_OF[record.kind] * 1e15 + GUARD_MS > now
end
