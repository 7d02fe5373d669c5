-- Pops the first job of the first queue that has one and claims it, so that a job is never in nobody's hand.
-- KEYS: the lists of n queues, then their n sets of claims (member job:claim, score when it lapses in epoch ms)
-- ARGV: ttl_ms, claim
-- Reply: {number of the queue, job}, or {0, ms until the first claim of these queues lapses (-1: there is none)}
local ttl_ms, claim = tonumber(ARGV[1]), ARGV[2]

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local queues = #KEYS / 2

for number = 1, queues do
  local job = redis.call('LPOP', KEYS[number])
  if job then
    redis.call('ZADD', KEYS[queues + number], now + ttl_ms, job .. ':' .. claim)
    return { number, job }
  end
end

local soonest = -1
for number = 1, queues do
  local first = redis.call('ZRANGE', KEYS[queues + number], 0, 0, 'WITHSCORES')
  if first[2] then
    local left = math.max(0, tonumber(first[2]) - now)
    soonest = soonest == -1 and left or math.min(soonest, left)
  end
end
return { 0, soonest }
