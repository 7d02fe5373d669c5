-- The pods and leases of one heartbeat call, read from ARGV.
local function read_pods(first, count)
  local list = {}
  for at = first, first + (count - 1) * 6, 6 do
    local pod = { field = ARGV[at], kind = ARGV[at + 1], instance = ARGV[at + 2],
                  memory = ARGV[at + 4], labels = ARGV[at + 5] }
    pod.members = slot_members(pod.kind, pod.field, pod.instance, tonumber(ARGV[at + 3]))
    list[#list + 1] = pod
  end
  return list
end

local function read_leases(first, pods)
  local list = {}
  for at = first, #ARGV, 3 do
    list[#list + 1] = { owner = pods[tonumber(ARGV[at])], id = ARGV[at + 1],
                        value = LEASE * 1e15 + tonumber(ARGV[at + 2]) }
  end
  return list
end

-- Moves the deadlines of members that are all there and all in their band; false where one is not.
local function all_moved(members, list, expires_at)
  local beats, moved = {}, 0
  for _, pod in ipairs(list) do
    for _, member in ipairs(pod.members) do
      beats[#beats + 1] = score(BAND_OF[pod.kind], expires_at)
      beats[#beats + 1] = member
    end
  end
  in_chunks(beats, 7000, function(...) moved = moved + rescore(members, 'GT', 'CH', ...) end)
  return moved == #beats / 2
end

-- The records of the pods the set does not know as they say they are; `fresh` when ours was just written.
local function known_records(pods, strangers, now)
  local known, fields = {}, {}
  local lone = strangers[1]
  if #strangers == 1 and lone.memory == 'none' then
    -- Without memory this is refused also where the pod is known, so then it is looked for as well.
    if try('HSETNX', pods, lone.field, write_record(lone, nil, now)) == 1 then return known, true end
  end
  for at, pod in ipairs(strangers) do fields[at] = pod.field end
  if #fields > 0 then
    for at, text in ipairs(redis.call('HMGET', pods, unpack(fields))) do known[fields[at]] = text end
  end
  return known, false
end
