-- The mirror has made durable what `drain` read: exactly that is removed. What has changed since stays.
-- ARGV session acknowledgements marks letters marks: lists and marks as `drain` told them. The marks of a repair, which gives
-- every product a place, are all -
if redis.call('HGET', guard, 'session') ~= ARGV[1] then return 0 end

-- The same value may be there anew: what kept the product's place when it was read has ended since. The mirror hears of it
-- once more, and lets the place go.
local function isOver(id, mark)
  return mark == '1' and not areHeld({ id })[1]
end

local marks, fields = ARGV[3], cmsgpack.unpack(ARGV[2])
local ids, known = {}, {}
for i = 1, #marks do ids[i] = fields[2 * i - 1] end
local values = valuesOf('HMGET', acknowledged, ids)
local echoed = areEchoed(ids)
for i, id in ipairs(ids) do
  local value, mark = fields[2 * i], string.sub(marks, i, i)
  if values[i] == value and not isOver(id, mark) then
    -- An echo that came after the reading: the mirror has let the place go, and must hear of it.
    if #value == 16 and mark == '0' and echoed[i] then doubt(id) else known[#known + 1] = id end
  end
end
valuesOf('HDEL', acknowledged, known)
local letters = cmsgpack.unpack(ARGV[4])
for i = 1, #ARGV[5] do
  local id, value, mark = letters[2 * i - 1], letters[2 * i], string.sub(ARGV[5], i, i)
  local _, purpose = heldDocument(id)
  -- It may be taken back; when that is decided, the mirror hears of it once more.
  local stays = purpose == 'r' or isOver(id, mark)
  if not stays and redis.call('HGET', dead, id) == value then redis.call('HDEL', dead, id) end
end
return 1
