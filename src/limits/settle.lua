-- Settles a take by what it really cost, once: gives the difference back, or charges it down to a full debt.
-- KEYS: bucket (string), request (string)
-- ARGV: now, limit, request_ttl_ms; the limit's cost is the actual one
-- Reply: {outcome, balance}; outcome is settled, repeated or unknown
local now, limit, request_ttl_ms = tonumber(ARGV[1]), read_limit(ARGV[2]), ARGV[3]

local texts = redis.call('MGET', KEYS[1], KEYS[2])
local bucket = bucket_at(texts[1], limit, now)
local cost, turn_at, place, state = match(texts[2] or '', '^(%d+) (%d+) (%S+) (%a+)$')
local function reply(outcome) return { outcome, most(0, balance_of(bucket, now)) } end
if not cost then return reply('unknown') end
if state ~= 'open' then return reply('repeated') end

local more = limit.cost - tonumber(cost)
-- A turn given back leaves a hole in a leaky bucket's line, and only the last in it can be stepped over.
local last = place == string.format('%.0f/%.0f', bucket.level, bucket.since)
if more > 0 or bucket.kind == 't' or last then
  spend(bucket, more, now)
  write_bucket(KEYS[1], bucket, now)
end
redis.call('SET', KEYS[2], table.concat({ cost, turn_at, place, 'settled' }, ' '), 'PX', request_ttl_ms)
return reply('settled')
