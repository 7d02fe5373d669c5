-- Looks for items in every generation of a filter.
-- KEYS: configuration (string), then any number of: shard (string)
-- ARGV: version, item_count, then any number of: probe; all items in one generation, then all in the next
-- Reply: {current, present}; current is 0 when the configuration is another, present has 1 or 0 per item
local version, item_count = ARGV[1], tonumber(ARGV[2])
if not is_current(KEYS[1], version) then return { 0, {} } end
local shards, probes = read_probes(3)
local zero, present = probes_with_zero(shards, false), {}
for item = 1, item_count do present[item] = 0 end
for place = 1, probes do
  if not zero[place] then present[(place - 1) % item_count + 1] = 1 end
end
return { 1, present }
