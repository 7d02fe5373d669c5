-- Looks at one bucket and spends nothing.
-- KEYS: bucket (string)
-- ARGV: now, limit
-- Reply: {balance, delay_ms, wait_ms, rate}: of a take of that cost, had it come now
local now, limit = tonumber(ARGV[1]), read_limit(ARGV[2])
-- MGET, since a record of another type then counts as none, and the next take mends it.
local bucket = bucket_at(redis.call('MGET', KEYS[1])[1], limit, now)
local wait_ms = time_of(bucket, limit.cost, now) - now
local delay_ms = bucket.kind == 'l' and wait_ms == 0 and time_of(bucket, bucket.capacity, now) - now or 0
return { most(0, balance_of(bucket, now)), delay_ms, wait_ms, bucket.rate_text }
