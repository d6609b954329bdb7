-- The endpoint took these documents. Counts only for products still bound to this token.
-- ARGV token last(0|1) then per product: id, digest
-- Returns 1 where a limit of bytes stands that the endpoint taught, which may grow now (`limit`), else 0.
local token, last = ARGV[1], ARGV[2]
local count = 0

-- Whether what is left of the product is to be sent: a newer document waits, and no lane holds it.
local function keepWaiting(id, purpose)
  if laneKeys[purpose] and not laneOf(id) then redis.call('ZADD', laneKeys[purpose], now, id) end
end

local function settle(id, digest)
  local holder, began, lane = claimOf(id)
  if holder ~= token then
    -- The claim was lost while its call ran: this document may have replaced a newer one of another call.
    echoAt(id, now)
    doubt(id)
    return
  end
  redis.call('HDEL', claimed, id)
  redis.call('HSET', acknowledged, id, digest)
  count = count + 1
  redis.call('HINCRBY', counters, 'acknowledged:' .. lane, 1)
  settleEcho(id, began)
  local held, purpose = heldDocument(id)
  -- An echo that is not due yet does without the document: the pump brings it then.
  if held == digest then dropDocument(id) else keepWaiting(id, purpose) end
end

-- What was refused in a row since the last acceptance stays refused.
local function decideRefusals()
  for _, entry in ipairs(redis.call('LRANGE', refusals, 0, -1)) do
    local id = string.sub(entry, 3)
    local _, purpose = heldDocument(id)
    if purpose == 'r' then dropDocument(id) end
  end
  redis.call('DEL', refusals)
end

for i = 3, #ARGV, 2 do settle(ARGV[i], ARGV[i + 1]) end
if last == '1' then redis.call('ZREM', leases, token) end
if count > 0 then
  redis.call('HDEL', pace, 'failures')
  decideRefusals()
end
return redis.call('HEXISTS', pace, 'bodyBytes')
