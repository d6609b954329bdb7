-- How many bytes a call may have after the endpoint refused one for its size (413). All of it is decided here; claims
-- only read `bodyBytes`.
-- none → learned (`refused`) → doubled by calls that are taken, after `bodyBytesNeeded` nearly full ones since the last
-- change, or at the first one after 10 minutes → … → none, where it would not be below the configured limit.
-- Each refusal within an hour of the one before doubles how many full calls are needed: a limit that is real is seldom
-- tried again. Nothing below 64 KiB is learned, whatever a proxy that fails says of calls of many products.
-- ARGV how(refused|taken) bytes (refused: the new limit; taken: the body's) callBytes (as configured)
local how, bodyBytes, callBytes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local bytesMin, neededMin, neededMax, growMs, relatedMs = 65536, 8, 1024, 600000, 3600000
local state = redis.call('HMGET', pace, 'bodyBytes', 'bodyBytesAt', 'bodyBytesChangedAt', 'bodyBytesTaken', 'bodyBytesNeeded')
local limit, refusedAt = tonumber(state[1]), tonumber(state[2])
local changedAt = tonumber(state[3]) or 0
local taken, needed = tonumber(state[4]) or 0, tonumber(state[5]) or neededMin
local stamp = string.format('%.0f', now)

local function change(to)
  if to >= callBytes then
    redis.call('HDEL', pace, 'bodyBytes', 'bodyBytesChangedAt', 'bodyBytesTaken')
  else
    redis.call('HSET', pace, 'bodyBytes', to, 'bodyBytesChangedAt', stamp, 'bodyBytesTaken', 0)
  end
end

if how == 'refused' then
  local learned = math.max(bodyBytes, bytesMin)
  -- The smaller one counts: a late refusal of a larger call says nothing new.
  if learned >= callBytes or (limit and limit <= learned) then return end
  local isRelated = refusedAt and math.abs(now - refusedAt) < relatedMs
  needed = isRelated and math.min(needed * 2, neededMax) or neededMin
  redis.call('HSET', pace, 'bodyBytesAt', stamp, 'bodyBytesNeeded', needed)
  change(learned)
elseif limit then
  if bodyBytes >= limit * 3 / 4 then taken = redis.call('HINCRBY', pace, 'bodyBytesTaken', 1) end
  -- The clock was set back.
  if changedAt > now then redis.call('HSET', pace, 'bodyBytesChangedAt', stamp) end
  if taken >= needed or now - changedAt >= growMs then change(limit * 2) end
end
