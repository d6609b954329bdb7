-- What the mirror has to learn: a part of what was acknowledged, doubted or dropped, and the dead letters. Changes nothing.
-- ARGV session cursor count
-- Returns the next cursor ('0': all was read), a flat list of id, value, held (0|1), the same of dead letters, and the
-- positions of the lanes u n d, all of one moment. Held: Redis has something of the product under way, so it keeps its
-- place. Returns nothing when another process has taken over.
if redis.call('HGET', guard, 'session') ~= ARGV[1] then return {} end

local function read(key, cursor, count)
  local page = redis.call('HSCAN', key, cursor, 'COUNT', count)
  local fields, ids, list = page[2], {}, {}
  for i = 1, #fields, 2 do table.insert(ids, fields[i]) end
  local held = areHeld(ids)
  for i, id in ipairs(ids) do
    table.insert(list, id)
    table.insert(list, fields[2 * i])
    table.insert(list, held[i] and 1 or 0)
  end
  return page[1], list
end

local cursor, acknowledgements = read(acknowledged, ARGV[2], ARGV[3])
local _, letters = read(dead, 0, ARGV[3])
return { cursor, acknowledgements, letters, redis.call('HMGET', positions, 'urgent', 'new', 'deferred') }
