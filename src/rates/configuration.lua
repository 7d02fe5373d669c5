-- Reads what an isolate keeps in memory of a limit.
-- KEYS: configuration (string), pace (string)
-- ARGV: none
-- Reply: {configuration, pace}; the stored JSON and the adapted rate, each empty where there is none
local configuration, pace = KEYS[1], KEYS[2]
return { redis.call('GET', configuration) or '', redis.call('GET', pace) or '' }
