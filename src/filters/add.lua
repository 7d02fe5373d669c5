-- Adds items to the newest generation of a filter.
-- KEYS: configuration (string), then any number of: shard (string)
-- ARGV: version, then any number of: probe
-- Reply: how many were not in it before, or -1 when the configuration is another and nothing was done
if not is_current(KEYS[1], ARGV[1]) then return -1 end
local zero, added = probes_with_zero(read_probes(2), true), 0
for _ in pairs(zero) do added = added + 1 end
return added
