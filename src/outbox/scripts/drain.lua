-- What the mirror has to learn: a part of what was acknowledged, doubted or dropped, and the dead letters. Changes nothing.
-- ARGV session cursor count [ids…]: with an empty cursor, of these products only
-- Returns the next cursor ('0': all was read), a flat list of id, value with a string of their marks, the same of dead
-- letters, and the positions of the lanes u n d, all of one moment. Lists are packed with cmsgpack: thousands of separate
-- values cost several times as much. Mark of each id: 1 where it is held, which means that Redis has something of the
-- product under way, so it keeps its place; else 0. Returns nothing when another process has taken over.
if redis.call('HGET', guard, 'session') ~= ARGV[1] then return {} end

local function scan(key, cursor, count)
  local page = redis.call('HSCAN', key, cursor, 'COUNT', count)
  return page[1], page[2]
end

local function find(key, asked)
  local fields = {}
  for i, value in ipairs(valuesOf('HMGET', key, asked)) do
    if value then
      fields[#fields + 1] = asked[i]
      fields[#fields + 1] = value
    end
  end
  return fields
end

local function pack(fields)
  local ids = {}
  for i = 1, #fields, 2 do ids[(i + 1) / 2] = fields[i] end
  local held = areHeld(ids)
  if not next(held) then return cmsgpack.pack(fields), string.rep('0', #ids) end
  local marks = {}
  for i = 1, #ids do marks[i] = held[i] and '1' or '0' end
  return cmsgpack.pack(fields), table.concat(marks)
end

local cursor, fields = ARGV[2], nil
if cursor == '' then fields = find(acknowledged, { unpack(ARGV, 4) })
else cursor, fields = scan(acknowledged, cursor, ARGV[3]) end
local acknowledgements, marks = pack(fields)
local _, deadFields = scan(dead, 0, ARGV[3])
local letters, letterMarks = pack(deadFields)
local offered = redis.call('HMGET', positions, 'urgent', 'new', 'deferred')
return { cursor, acknowledgements, marks, letters, letterMarks, offered }
