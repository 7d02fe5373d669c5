-- The limit that a step of another room also takes from: a gate it must pass, or none.
-- `room` is how often one can be taken now, `wait_ms` how long until it can be once; 0 when it can, or only watches.
local function read_gate(key, text, now)
  if not key then return { room = math.huge, wait_ms = 0 } end
  local limit = read_limit(text)
  -- MGET, since a record of another type then counts as none and is mended.
  local bucket = bucket_at(redis.call('MGET', key)[1], limit, now)
  local gate = { key = key, bucket = bucket, cost = limit.cost, watches = limit.shadow }
  if bucket.kind == 'l' then
    -- The step happens now, so its turn must be now.
    gate.wait_ms = time_of(bucket, bucket.capacity, now) - now
    gate.room = gate.wait_ms == 0 and 1 or 0
  else
    gate.wait_ms = time_of(bucket, limit.cost, now) - now
    gate.room = floor(most(0, balance_of(bucket, now)) / limit.cost)
  end
  if bucket.changed then write_bucket(key, bucket, now) end
  gate.left = gate.room
  if gate.watches then gate.room, gate.wait_ms = math.huge, 0 end
  return gate
end

local function pass_gate(gate, count, now)
  if not gate.key then return end
  count = least(count, gate.left)
  if count == 0 then return end
  spend(gate.bucket, gate.cost * count, now)
  write_bucket(gate.key, gate.bucket, now)
end
