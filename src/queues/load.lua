-- Tells what a limit that follows the queue goes by: tasks that wait or run, and how many were completed of late.
-- KEYS: members (zset), ready (zset), running (hash)
-- ARGV: now, span_ms, queue
-- Reply: {backlog, completed}; completed within the span that ends now
local members, ready, running = KEYS[1], KEYS[2], KEYS[3]
local now, span_ms, queue = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]

-- A lease that was ended stands in the fleet's set for some minutes, with the time of its end.
local from, to = score(LEASE, now - span_ms), '(' .. score(LEASE, now + 1)
local ended, completed = redis.call('ZRANGEBYSCORE', members, from, to, 'WITHSCORES'), 0
for at = 1, #ended, 2 do
  local of = string.match(ended[at], '^t/[^/]*/[^/]*/[^/]*/[^/]*/%d+/([^/]*)/')
  if of == queue and tonumber(ended[at + 1]) % 1 == COMPLETED then completed = completed + 1 end
end
return { redis.call('ZCARD', ready) + redis.call('HLEN', running), completed }
