-- The mirror has made durable what `drain` read: exactly that is removed. What has changed since stays.
-- ARGV session acknowledgements then per acknowledgement: id, value, held; then per dead letter: id, value
if redis.call('HGET', guard, 'session') ~= ARGV[1] then return 0 end
local deadFrom = 3 + tonumber(ARGV[2]) * 3

for i = 3, deadFrom - 1, 3 do
  local id, value, held = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if redis.call('HGET', acknowledged, id) == value then
    -- An echo that came after the reading: the mirror has let the place go, and must hear of it.
    if #value == 16 and held == '0' and echoOf(id) then doubt(id) else redis.call('HDEL', acknowledged, id) end
  end
end
for i = deadFrom, #ARGV, 2 do
  local id = ARGV[i]
  local _, purpose = heldDocument(id)
  -- It may be taken back; when that is decided, the mirror hears of it once more.
  if purpose ~= 'r' and redis.call('HGET', dead, id) == ARGV[i + 1] then redis.call('HDEL', dead, id) end
end
return 1
