-- What a record tells of a task that is sent in again: the reply, or nothing when the task is to be taken in anew; then
-- the place it is to be put back to, or the dead letter that goes.
local function repeated(keys, record, failure, task, now, max_deliveries)
  local state, rest = read_record_line(record)
  local first = record_task(state, rest)
  if not first then return nil end
  if state == 'l' then
    local found, _, place = find_task(keys, failure, first, now, max_deliveries)
    if found and not place.dead then return { 'duplicate', found } end
    return nil, nil, place and place.dead
  end
  if first.hash ~= task.hash then return { 'conflict', '' } end
  if state == 'c' then return { 'duplicate', 'completed' } end
  if state == 'x' then return { 'duplicate', 'cancelled' } end
  local found = find_task(keys, failure, read_task(rest), now, max_deliveries)
  if found then return { 'duplicate', found } end
  -- No structure has what the record promises, since the store forgot it: the task is put back as it was.
  local place = tonumber(first.age_at) > now and 'delayed' or 'ready'
  return { 'duplicate', place }, { place = place, task = first, text = rest }
end
