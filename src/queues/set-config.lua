-- Sets what a queue is; its fleet is fixed when it is first set.
-- KEYS: config (string)
-- ARGV: fleet, text
-- Reply: 1, or 0 when the queue belongs to another fleet
local config, fleet, text = KEYS[1], ARGV[1], ARGV[2]
local before = string.match(redis.call('GET', config) or '', '^([^\n]*)\n')
if before and before ~= fleet then return 0 end
redis.call('SET', config, fleet .. '\n' .. text)
return 1
