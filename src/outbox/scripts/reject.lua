-- Products that the endpoint refused become dead letters; a product whose document changed meanwhile does not.
-- ARGV token last(0|1) unnamed(0|1) inARow pauseJson then per product: id, digest, JSON; the digest as for `acknowledge`
-- Those refused unnamed keep their documents while it is not decided whether the endpoint refuses everything.
-- Returns 'rejected' or 'refuses-everything' (then all refused in a row are taken back and the catalog is paused).
local token, last, unnamed, inARow = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local function bury(id, digest, reason, lane)
  redis.call('HSET', dead, id, digest .. reason)
  redis.call('HINCRBY', counters, 'refused', 1)
  if unnamed == '0' then return dropDocument(id) end
  leaveLanes(id)
  holdDocument(id, digest, 'r')
  redis.call('RPUSH', refusals, (lane == 'e' and 'u' or lane) .. ' ' .. id)
end

for i = 6, #ARGV, 3 do
  local id, reason = ARGV[i], ARGV[i + 2]
  local digest, offered = string.sub(ARGV[i + 1], 1, 16), string.sub(ARGV[i + 1], 17)
  local holder, began, lane = claimOf(id)
  if holder == token then
    redis.call('HDEL', claimed, id)
    local held, purpose = heldDocument(id)
    if held == digest or held == offered then
      -- An echo that is not due yet stays: an earlier call may still take effect after an edit that is undone was sent. One
      -- that was due has healed nothing: what was acknowledged before is not believed.
      if settleEcho(id, began) then doubt(id) end
      bury(id, digest, reason, lane)
    elseif laneKeys[purpose] and not laneOf(id) then
      redis.call('ZADD', laneKeys[purpose], now, id)
    end
  end
end
if last == '1' then redis.call('ZREM', leases, token) end

if unnamed == '0' or redis.call('LLEN', refusals) < inARow then return 'rejected' end
for _, entry in ipairs(redis.call('LRANGE', refusals, 0, -1)) do
  local lane, id = string.sub(entry, 1, 1), string.sub(entry, 3)
  local digest, purpose = heldDocument(id)
  if purpose == 'r' then
    redis.call('ZADD', laneKeys[lane], now, id)
    holdDocument(id, digest, lane)
    redis.call('HDEL', dead, id)
    -- The mirror may have it among its dead letters already.
    doubt(id)
  end
end
redis.call('DEL', refusals)
redis.call('HSET', pause, 'refuses-everything', ARGV[5])
return 'refuses-everything'
