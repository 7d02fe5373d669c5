std = "lua51"
max_line_length = 120
read_globals = { "redis", "KEYS", "ARGV", "cjson" }

-- Libraries are put before the scripts that use them: what they define at the top is known there.
local libraries = {
  "src/leases/bands.lua", "src/leases/commands.lua", "src/fleets/record.lua", "src/fleets/beats.lua",
  "src/queues/task.lua", "src/queues/due.lua", "src/queues/find.lua", "src/queues/repeated.lua",
  "src/queues/choose.lua", "src/queues/end-delivery.lua",
  "src/rates/bucket.lua", "src/rates/limit.lua", "src/rates/gate.lua",
  "src/filters/probes.lua",
}

for _, library in ipairs(libraries) do
  files[library] = { ignore = { "211" } }
  for line in io.lines(library) do
    local names = line:match("^local function ([%w_]+)") or line:match("^local ([%w_, ]+) =") or ""
    for name in names:gmatch("[%w_]+") do
      table.insert(read_globals, name)
    end
  end
end
