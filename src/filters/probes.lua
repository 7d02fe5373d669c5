-- The bits that a call asks of a filter, in as few commands as unpack allows, while its configuration is the caller's.
-- A probe is: shard (its place in KEYS), count, then that many offsets.
local function is_current(configuration, version)
  local text = redis.call('MGET', configuration)[1]
  return text and string.match(text, '^(%S+) ') == version
end

local function read_probes(first)
  local shards, probes, at = {}, 0, first
  while at <= #ARGV do
    local key, count = KEYS[tonumber(ARGV[at])], tonumber(ARGV[at + 1])
    probes = probes + 1
    shards[key] = shards[key] or { offsets = {}, owners = {} }
    for place = at + 2, at + 1 + count do
      table.insert(shards[key].offsets, ARGV[place])
      table.insert(shards[key].owners, probes)
    end
    at = at + 2 + count
  end
  return shards, probes
end

-- The probes of which some bit was 0: asked only, or set besides.
local function probes_with_zero(shards, sets)
  local zero, step = {}, sets and 1750 or 2340
  for key, shard in pairs(shards) do
    for from = 1, #shard.offsets, step do
      local command = { key }
      for at = from, math.min(from + step - 1, #shard.offsets) do
        command[#command + 1] = sets and 'SET' or 'GET'
        command[#command + 1] = 'u1'
        command[#command + 1] = shard.offsets[at]
        if sets then command[#command + 1] = 1 end
      end
      for at, bit in ipairs(redis.call('BITFIELD', unpack(command))) do
        if bit == 0 then zero[shard.owners[from + at - 1]] = true end
      end
    end
  end
  return zero
end
