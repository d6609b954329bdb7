-- The endpoint took these documents. Counts only for products still bound to this token.
-- ARGV token last(0|1) how many more were taken that Redis does not know, then per product: id, digest, and behind it that of the claimed document where another was sent
-- Returns 1 where a limit of bytes stands that the endpoint taught, which may grow now (`limit`), else 0.
local token, last, unknown = ARGV[1], ARGV[2], tonumber(ARGV[3])
local count = unknown

-- Whether what is left of the product is to be sent: a newer document waits, and no lane holds it.
local function keepWaiting(id, purpose)
  if laneKeys[purpose] and not laneOf(id) then redis.call('ZADD', laneKeys[purpose], now, id) end
end

local function settle(id, digests)
  local digest, offered = string.sub(digests, 1, 16), string.sub(digests, 17)
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
  if held == digest or held == offered then dropDocument(id) else keepWaiting(id, purpose) end
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

-- Most products are still bound, and the document that was sent is their newest: their fields go all at once.
local function settleAll(ids, digests)
  local held, claims, echoed = valuesOf('HMGET', pending, ids), valuesOf('HMGET', claimed, ids), areEchoed(ids)
  local done, taken, sizes, lanes = {}, {}, {}, {}
  -- Products that waited equally long have the same claim.
  local claim, holder, began, lane
  for i, id in ipairs(ids) do
    if claims[i] ~= claim then
      claim = claims[i]
      holder, began, lane = readClaim(claim)
    end
    local newest, purpose, size = readHeld(held[i])
    if holder == token and newest == digests[i] and not echoed[i] then
      done[#done + 1] = id
      taken[#taken + 1] = id
      taken[#taken + 1] = newest
      sizes[purpose] = (sizes[purpose] or 0) + size
      lanes[lane] = (lanes[lane] or 0) + 1
    else
      settle(id, digests[i])
    end
  end
  if #done == 0 then return end
  count = count + #done
  redis.call('HSET', acknowledged, unpack(taken))
  for _, key in ipairs({ claimed, pending, documents }) do redis.call('HDEL', key, unpack(done)) end
  -- The same document may have been offered again meanwhile.
  for _, key in pairs(laneKeys) do valuesOf('ZREM', key, done) end
  for purpose, size in pairs(sizes) do redis.call('HINCRBY', bytes, purpose, -size) end
  for from, number in pairs(lanes) do redis.call('HINCRBY', counters, 'acknowledged:' .. from, number) end
end

local ids, digests = {}, {}
for i = 4, #ARGV, 2 do
  ids[#ids + 1] = ARGV[i]
  digests[#digests + 1] = ARGV[i + 1]
end
settleAll(ids, digests)
if unknown > 0 then redis.call('HINCRBY', counters, 'acknowledged:n', unknown) end
if last == '1' then redis.call('ZREM', leases, token) end
if count > 0 then
  redis.call('HDEL', pace, 'failures')
  decideRefusals()
end
return redis.call('HEXISTS', pace, 'bodyBytes')
