-- The endpoint took these documents. Counts only for products still bound to this token.
-- KEYS acknowledged pending claimed urgent new deferred echoes leases pace refusals counters dead
-- ARGV token last(0|1) then per product: id, digest
-- Returns 1 where a limit of bytes stands that the endpoint taught, which may grow now (`limit`), else 0.
local acknowledged, pending, claimed, urgent, new, deferred, echoes, leases, pace, refusals, counters, dead = unpack(KEYS)
local token, last = ARGV[1], ARGV[2]
local count = 0

local function settle(id, digest)
  local claim = redis.call('HGET', claimed, id)
  local holder, began, lane
  if claim then holder, began, lane = string.match(claim, '^(%S+) (%S+) (%S+)') end
  if holder ~= token then
    -- The claim was lost while its call ran: this document may have replaced a newer one of another call.
    redis.call('ZADD', echoes, 'GT', now, id)
    return
  end
  redis.call('HDEL', claimed, id)
  redis.call('HSET', acknowledged, id, digest)
  count = count + 1
  redis.call('HINCRBY', counters, 'acknowledged:' .. lane, 1)
  local echo = redis.call('ZSCORE', echoes, id)
  if echo and tonumber(echo) <= math.min(tonumber(began), now) then redis.call('ZREM', echoes, id) end
  local wanted = redis.call('HGET', pending, id)
  if not wanted or wanted == digest then
    redis.call('HDEL', pending, id)
    redis.call('ZREM', urgent, id)
    redis.call('ZREM', new, id)
    redis.call('ZREM', deferred, id)
  elseif not redis.call('ZSCORE', urgent, id) and not redis.call('ZSCORE', new, id)
    and not redis.call('ZSCORE', deferred, id) and redis.call('HEXISTS', dead, id) == 0 then
    -- A newer document waits and no lane holds it: pending alone decides, lanes are only an index over it.
    redis.call('ZADD', urgent, now, id)
  end
end

for i = 3, #ARGV, 2 do settle(ARGV[i], ARGV[i + 1]) end
if last == '1' then redis.call('ZREM', leases, token) end
if count > 0 then
  redis.call('HDEL', pace, 'failures')
  redis.call('DEL', refusals)
end
return redis.call('HEXISTS', pace, 'bodyBytes')
