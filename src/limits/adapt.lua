-- Moves the rate of a limit after its queue, once a step whoever asks: up by a tenth of what drains while the wait
-- is short and half of the rate is used, down by at most three tenths while it is long, never past what would bring
-- the wait to 80 % of its target. Between two steps it only adds up what was used.
-- KEYS: pace (string)
-- ARGV: now, step_ms, ttl_ms, used, set_rate, min, max, target_wait_ms, backlog, drain; amounts and rates per second
-- Reply: {rate, set_at, wait_ms}; set_at is when the rate last changed, wait_ms -1 while nothing drains
local pace, now, step_ms, ttl_ms = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local used, set_rate, min, max = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local target, backlog, drain = tonumber(ARGV[8]) / 1000, tonumber(ARGV[9]), tonumber(ARGV[10])
local STEP_UP, STEP_DOWN, AIM, GAIN, LEAST = 0.1, 0.7, 0.8, 0.5, 0.3
local DAY_MS = 86400000

local found = {}
for number in string.gmatch(redis.call('MGET', pace)[1] or '', '%S+') do found[#found + 1] = tonumber(number) end
local rate, set_at, stepped_at, before = found[1], found[2], found[3], found[4]
local wait = drain > 0 and backlog / drain or backlog > 0 and math.huge or 0

-- Bounded by the rate at which the wait would come to its aim; so it comes there without swinging past.
local function stepped(seconds)
  local goal = drain > 0 and drain * math.max(LEAST, 1 + GAIN * (AIM - wait / target)) or wait > 0 and 0 or max
  if rate > goal then return wait > AIM * target and math.max(goal, rate * STEP_DOWN) or rate end
  if wait >= target or used < 0.5 * rate * seconds then return rate end
  return math.min(goal, rate + STEP_UP * math.max(set_rate, drain))
end

local function within(value) return math.min(max, math.max(min, value)) end

local sane = #found == 5 and rate > 0 and rate <= 1e9 and set_at <= stepped_at and before >= 0
if not (sane and stepped_at <= now + DAY_MS) then
  rate, set_at, stepped_at, used = within(set_rate), now, now, 0
elseif now - stepped_at < step_ms then
  used = used + before
else
  used = used + before
  local new = within(stepped((now - stepped_at) / 1000))
  if new ~= rate then rate, set_at = new, now end
  stepped_at, used = now, 0
end
local wait_ms = wait < math.huge and math.min(DAY_MS, math.ceil(wait * 1000)) or -1
local text = string.format('%.17g %.0f %.0f %.17g %.0f', rate, set_at, stepped_at, used, wait_ms)
redis.call('SET', pace, text, 'PX', ttl_ms)
return { string.format('%.17g', rate), set_at, wait_ms }
