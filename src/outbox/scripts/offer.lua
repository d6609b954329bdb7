-- Puts products that are due into the outbox; each has a place in the mirror, or an echo that asked for its document.
-- ARGV newAfterMs, then per product: id, digest, lane, kind, ageMs, bytes of its document
--   lane u n d · ageMs: how long it has been unsent · kind:
--   c  a change
--   d  a doubt: the endpoint may hold anything. Until `echoUntil` of the guard (a loss was repaired) it is echoed, too.
--   u  an undone edit: the endpoint holds this document, unless something of the product is under way
--   w  withdrawn: the product has no document any more
--   e  an echo that is due asked for it
-- Runs in one MULTI after the documents are set and with the positions; repeating it changes nothing. What is dropped is
-- told as `=` among the acknowledgements, so that the mirror learns it whatever happens to the reply.
local newAfterMs = tonumber(ARGV[1])
local echoUntil = tonumber(redis.call('HGET', guard, 'echoUntil')) or 0

local function isUnderWay(id)
  local known = redis.call('HGET', acknowledged, id)
  local isUndrained = known and known ~= '='
  local _, purpose = heldDocument(id)
  return isUndrained or purpose == 'r' or redis.call('HEXISTS', claimed, id) == 1 or echoOf(id)
end

local function drop(id)
  dropDocument(id)
  redis.call('HDEL', dead, id)
  redis.call('HSETNX', acknowledged, id, '=')
end

-- A product is in one lane; a more urgent change moves it up, a less urgent one leaves it where it is.
local function enter(id, digest, lane, ageMs, size)
  local current = laneOf(id)
  if current and rank[current] <= rank[lane] then
    lane = current
  else
    if current then redis.call('ZREM', laneKeys[current], id) end
    local since = now - tonumber(ageMs) + (lane == 'n' and newAfterMs or 0)
    redis.call('ZADD', laneKeys[lane], string.format('%.0f', since), id)
  end
  holdDocument(id, digest, lane, size)
end

-- Whoever asked for the document has it now.
local function answerRequest(id)
  local due = redis.call('ZSCORE', requests, id)
  if due then echoAt(id, tonumber(due)) end
end

local function serveEcho(id, digest, size)
  local _, purpose = heldDocument(id)
  holdDocument(id, digest, purpose or 'e', size)
  answerRequest(id)
  -- A call was to have it, and asked for its document.
  local isBack = laneKeys[purpose] and not laneOf(id) and redis.call('HEXISTS', claimed, id) == 0
  if isBack then redis.call('ZADD', laneKeys[purpose], now, id) end
  if not purpose and not echoOf(id) then dropDocument(id) end
end

local function offer(id, digest, lane, kind, ageMs, size)
  local held, purpose = heldDocument(id)
  if kind == 'e' then
    serveEcho(id, digest, size)
  elseif kind == 'w' then
    leaveEchoes(id)
    drop(id)
  elseif kind == 'u' and not isUnderWay(id) then
    drop(id)
  elseif purpose == 'r' and held == digest then
    -- It is not decided yet whether this very document is refused.
    holdDocument(id, digest, 'r')
  else
    redis.call('HDEL', dead, id)
    enter(id, digest, lane, ageMs, size)
    answerRequest(id)
    if kind == 'd' and echoUntil > now then echoAt(id, now) end
  end
end

for i = 2, #ARGV, 6 do offer(unpack(ARGV, i, i + 5)) end
return redis.status_reply('OK')
