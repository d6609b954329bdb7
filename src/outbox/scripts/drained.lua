-- The mirror has made durable what `drain` read: exactly that is removed. What has changed since stays.
-- ARGV session acknowledgements then per acknowledgement, then per dead letter: id, value, held (0|1, - of a repair, which
-- gives every product a place)
if redis.call('HGET', guard, 'session') ~= ARGV[1] then return 0 end
local deadFrom = 3 + tonumber(ARGV[2]) * 3

-- The same value may be there anew: what kept the product's place when it was read has ended since. The mirror hears of it
-- once more, and lets the place go.
local function isOver(id, held)
  return held == '1' and not areHeld({ id })[1]
end

local ids, known = {}, {}
for i = 3, deadFrom - 1, 3 do table.insert(ids, ARGV[i]) end
local values = valuesOf('HMGET', acknowledged, ids)
local echoed = areEchoed(ids)
for i, id in ipairs(ids) do
  local value, held = ARGV[3 * i + 1], ARGV[3 * i + 2]
  if values[i] == value and not isOver(id, held) then
    -- An echo that came after the reading: the mirror has let the place go, and must hear of it.
    if #value == 16 and held == '0' and echoed[i] then doubt(id) else table.insert(known, id) end
  end
end
valuesOf('HDEL', acknowledged, known)
for i = deadFrom, #ARGV, 3 do
  local id, value, held = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local _, purpose = heldDocument(id)
  -- It may be taken back; when that is decided, the mirror hears of it once more.
  local stays = purpose == 'r' or isOver(id, held)
  if not stays and redis.call('HGET', dead, id) == value then redis.call('HDEL', dead, id) end
end
return 1
