-- The mirror has made durable what `drain` read: exactly that is removed. What has changed since stays.
-- ARGV session acknowledgements marks then per acknowledgement, then per dead letter: id, value. `marks`: of each of them
-- what `drain` said, or - of a repair, which gives every product a place.
if redis.call('HGET', guard, 'session') ~= ARGV[1] then return 0 end
local count, marks = tonumber(ARGV[2]), ARGV[3]

-- The same value may be there anew: what kept the product's place when it was read has ended since. The mirror hears of it
-- once more, and lets the place go.
local function isOver(id, mark)
  return mark == '1' and not areHeld({ id })[1]
end

local ids, known = {}, {}
for i = 1, count do ids[i] = ARGV[2 + 2 * i] end
local values = valuesOf('HMGET', acknowledged, ids)
local echoed = areEchoed(ids)
for i, id in ipairs(ids) do
  local value, mark = ARGV[3 + 2 * i], string.sub(marks, i, i)
  if values[i] == value and not isOver(id, mark) then
    -- An echo that came after the reading: the mirror has let the place go, and must hear of it.
    if #value == 16 and mark == '0' and echoed[i] then doubt(id) else known[#known + 1] = id end
  end
end
valuesOf('HDEL', acknowledged, known)
for i = count + 1, #marks do
  local id, value, mark = ARGV[2 + 2 * i], ARGV[3 + 2 * i], string.sub(marks, i, i)
  local _, purpose = heldDocument(id)
  -- It may be taken back; when that is decided, the mirror hears of it once more.
  local stays = purpose == 'r' or isOver(id, mark)
  if not stays and redis.call('HGET', dead, id) == value then redis.call('HDEL', dead, id) end
end
return 1
