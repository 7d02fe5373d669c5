-- Ends a task with its result, and gives its slot back, if this is still the current delivery.
-- KEYS: members (zset), timers (zset), running (hash), record (string), failure (string)
-- ARGV: now, lease, id, failed, value, result_ttl_ms
-- Reply: completed, already or stale
local keys, record, failure = { members = KEYS[1], timers = KEYS[2], running = KEYS[3] }, KEYS[4], KEYS[5]
local now, lease, id, failed = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4] == '1'
local value, result_ttl_ms = ARGV[5], ARGV[6]

if end_delivery(keys, lease, id, now) then
  redis.call('SET', record, value, 'PX', result_ttl_ms)
  if failed then redis.call('DEL', failure) end
  return 'completed'
end
local state, rest = read_record_line(redis.call('GET', record))
return state == 'c' and string.match(rest, '^%d+ (%S+)$') == lease and 'already' or 'stale'
