-- Commands over lists of any length, and in a store that is out of memory.

-- Runs one command over a list of any length: unpack dies at 8,000.
local function in_chunks(list, size, run)
  for from = 1, #list, size do
    run(unpack(list, from, math.min(from + size - 1, #list)))
  end
end

-- Runs a command as pcall does, but lets only that error through which a store without memory gives.
local function try(...)
  local reply = redis.pcall(...)
  local refused = type(reply) == 'table' and reply.err
  if refused and not string.find(refused, 'OOM', 1, true) then error(reply) end
  return reply, refused
end

-- Writes what adds nothing, or little to what is known. A store without memory refuses a script whose first write may
-- add: so it is asked again after one that takes out, though nothing.
local function insist(members, ...)
  local reply, refused = try(...)
  if not refused then return reply end
  redis.call('ZREM', members, '')
  return (try(...))
end

-- Gives other scores to members that are there, with ZADD's flags before them.
local function rescore(members, ...)
  return insist(members, 'ZADD', members, 'XX', ...)
end

-- The scores of many members, by member; false where there is none.
local function scores_of(members, names)
  local found, at = {}, 0
  in_chunks(names, 7000, function(...)
    for _, value in ipairs(redis.call('ZMSCORE', members, ...)) do
      at = at + 1
      found[names[at]] = tonumber(value or '') or false
    end
  end)
  return found
end
