-- Products that the endpoint refused become dead letters; a product whose document changed meanwhile does not.
-- KEYS acknowledged pending claimed urgent new deferred echoes leases dead refusals pause counters dropped
-- ARGV token last(0|1) unnamed(0|1) inARow pauseJson then per product: id, digest, JSON
-- Returns 'rejected' or 'refuses-everything' (then all refused in a row are taken back and the catalog is paused).
local acknowledged, pending, claimed, urgent, new, deferred, echoes, leases, dead, refusals, pause, counters, dropped = unpack(KEYS)
local token, last, unnamed, inARow = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local function leaveLanes(id)
  redis.call('ZREM', urgent, id)
  redis.call('ZREM', new, id)
  redis.call('ZREM', deferred, id)
end

local function enter(id)
  if redis.call('ZSCORE', urgent, id) or redis.call('ZSCORE', new, id) or redis.call('ZSCORE', deferred, id) then return end
  local lane = redis.call('HEXISTS', acknowledged, id) == 1 and urgent or new
  redis.call('ZADD', lane, now, id)
end

for i = 6, #ARGV, 3 do
  local id, digest, reason = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local claim = redis.call('HGET', claimed, id)
  local holder, began
  if claim then holder, began = string.match(claim, '^(%S+) (%S+)') end
  if holder == token then
    redis.call('HDEL', claimed, id)
    local wanted = redis.call('HGET', pending, id)
    if wanted and wanted ~= digest then
      enter(id)
    elseif redis.call('HGET', dropped, id) == digest then
      -- The operator has given up this very document; only Redis had forgotten that.
      redis.call('HDEL', dropped, id)
      redis.call('HSET', acknowledged, id, digest)
      redis.call('HDEL', pending, id)
      leaveLanes(id)
    else
      redis.call('HSET', dead, id, digest .. reason)
      redis.call('HSET', pending, id, digest)
      -- An echo that is not due yet stays: an earlier call may still take effect after an edit that is undone was sent.
      local echo = redis.call('ZSCORE', echoes, id)
      if echo and tonumber(echo) <= math.min(tonumber(began), now) then redis.call('ZREM', echoes, id) end
      redis.call('HINCRBY', counters, 'refused', 1)
      leaveLanes(id)
      if unnamed == '1' then redis.call('RPUSH', refusals, id) end
    end
  end
end
if last == '1' then redis.call('ZREM', leases, token) end

if unnamed == '1' and redis.call('LLEN', refusals) >= inARow then
  for _, id in ipairs(redis.call('LRANGE', refusals, 0, -1)) do
    if redis.call('HDEL', dead, id) == 1 and redis.call('HEXISTS', pending, id) == 1 then enter(id) end
  end
  redis.call('DEL', refusals)
  redis.call('HSET', pause, 'refuses-everything', ARGV[5])
  return 'refuses-everything'
end
return 'rejected'
