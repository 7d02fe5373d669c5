-- Takes tasks in, each once by its id; a repeat hears what became of the first.
-- KEYS: members, ready, timers, running, dead (fleet's zset, zset, zset, hash, zset), then per task: record, failure
-- ARGV: now, max_backlog, max_deliveries, then per task: task, payload, place; place is ready, delayed or known,
--       which is for a task that may only be a repeat
-- Reply: per task {outcome, state}; outcome is added, duplicate, conflict, full or unknown
local keys = { members = KEYS[1], ready = KEYS[2], timers = KEYS[3], running = KEYS[4], dead = KEYS[5] }
local now, max_backlog, max_deliveries = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local count, before, made, sets, ready, delayed, buried, notes = (#KEYS - 5) / 2, {}, {}, {}, {}, {}, {}, {}

local room = math.huge
if max_backlog then
  local looked = move_due(keys, now, max_deliveries, 500)
  room = max_backlog - redis.call('ZCARD', keys.ready) - redis.call('HLEN', keys.running)
  if looked == 500 then room = room - redis.call('ZCOUNT', keys.timers, '-inf', ARGV[1]) end
end

local function value_of(at)
  return 'w ' .. ARGV[1 + at * 3] .. '\n' .. ARGV[2 + at * 3]
end

-- One task alone is looked for by writing it.
local alone = count == 1 and room == math.huge and ARGV[6] ~= 'known'
if alone and redis.call('SET', KEYS[6], value_of(1), 'NX') then
  made[1] = KEYS[6]
else
  local records = {}
  for at = 1, count do records[at] = KEYS[4 + at * 2] end
  before = redis.call('MGET', unpack(records))
end

local function put(place, task, text)
  local list = place == 'delayed' and delayed or ready
  list[#list + 1] = place == 'delayed' and task.age_at or order_of(task)
  list[#list + 1] = place == 'delayed' and 'd/' .. text or text
end

local reply, here = {}, {}
for at = 1, count do
  local record, text, place = KEYS[4 + at * 2], ARGV[1 + at * 3], ARGV[3 + at * 3]
  local task, twin, letter = read_task(text), here[record], nil
  if twin then
    reply[at] = twin.hash == task.hash and { 'duplicate', twin.state } or { 'conflict', '' }
  else
    local back
    reply[at], back, letter = repeated(keys, before[at], KEYS[5 + at * 2], task, now, max_deliveries)
    if back then put(back.place, back.task, back.text) end
  end
  if not reply[at] and place == 'known' then
    reply[at] = { 'unknown', '' }
  elseif not reply[at] and room <= 0 then
    reply[at] = { 'full', '' }
  elseif not reply[at] then
    put(place, task, text)
    if made[1] ~= record then sets[#sets + 1], sets[#sets + 2] = record, value_of(at) end
    if letter then buried[#buried + 1], notes[#notes + 1] = letter, KEYS[5 + at * 2] end
    room, task.state = room - (place == 'ready' and 1 or 0), place
    here[record], reply[at] = task, { 'added', place }
  end
end

local added = {}
local function undo()
  if #made > 0 then redis.call('DEL', unpack(made)) end
  if #added > 0 then redis.call('ZREM', keys.ready, unpack(added)) end
end
if #sets > 0 then redis.call('MSET', unpack(sets)) end
for at = 1, #sets, 2 do made[#made + 1] = sets[at] end
if #ready > 0 then write_or(undo, 'ZADD', keys.ready, unpack(ready)) end
for at = 2, #ready, 2 do added[#added + 1] = ready[at] end
if #delayed > 0 then write_or(undo, 'ZADD', keys.timers, unpack(delayed)) end
if #buried > 0 then
  redis.call('ZREM', keys.dead, unpack(buried))
  redis.call('DEL', unpack(notes))
end
return reply
