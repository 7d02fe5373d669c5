-- Replaces the policy of a fleet.
-- KEYS: policy (string)
-- ARGV: text
-- Reply: OK
local policy, text = KEYS[1], ARGV[1]
return redis.call('SET', policy, text)
