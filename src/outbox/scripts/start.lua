-- Goes before every script of this folder: which keys there are, what Redis holds of a product, what time it is, and whether
-- guard and pace let a call begin. KEYS are always all of these, whichever of them a script uses.
local documents, pending, urgent, new, deferred, echoes, requests, claimed, leases, acknowledged, dead, refusals, pause, pace,
  positions, bytes, beat, guard, counters, probed, probeTurn = unpack(KEYS)

-- A full Redis refuses a script whose first write may need memory; after a write that needs none it lets all others
-- through. So what was offered is delivered, which makes room. (Offers are refused: they go with writes of documents.)
redis.call('PERSIST', KEYS[1])

-- The clock of Redis may be set back. What it wrote before then lies further ahead than it can; whoever meets such a time
-- brings it back, so that the wait does not begin anew each time somebody asks.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- How long no call may begin because the endpoint asked for it, or failed; 0 or less: calls may begin.
local function heldForMs()
  local state = redis.call('HMGET', pace, 'until', 'untilFor')
  local restMs, atMostMs = (tonumber(state[1]) or 0) - now, tonumber(state[2]) or 0
  if restMs <= atMostMs then return restMs end
  redis.call('HSET', pace, 'until', string.format('%.0f', now + atMostMs))
  return atMostMs
end

-- The rate of calls over all processes (GCRA). Urgent claims may run a little ahead, so that a backlog that uses up the
-- rate does not keep them waiting. So that they do not keep all others waiting, the first of those that has to wait books
-- a call for all of them: at the latest two intervals on, at least every second call is open to whatever is due.
-- Returns the answer for the caller when the call has to wait, with the number of calls made so far: while it grows,
-- others' calls are what is waited for.
local function withheldByRate(callsPerSecond, isUrgent)
  local intervalMs = 1000 / callsPerSecond
  local urgentAhead = math.ceil(callsPerSecond / 10) + 1
  local state = redis.call('HMGET', pace, 'tat', 'calls', 'booked')
  local tat = tonumber(state[1]) or 0
  local latest = now + (urgentAhead + 2) * intervalMs
  if tat > latest then
    tat = latest
    redis.call('HSET', pace, 'tat', tat)
  end
  local waitMs = tat - (isUrgent and urgentAhead or 1) * intervalMs - now
  if waitMs > 0 and not isUrgent then
    local known = tonumber(state[3])
    local booked = math.min(known or math.huge, now + math.min(waitMs, 2 * intervalMs))
    if booked ~= known then redis.call('HSET', pace, 'booked', booked) end
    waitMs = booked - now
  end
  if waitMs > 0 then return { 'wait', math.ceil(waitMs), tonumber(state[2]) or 0 } end
end

-- A call begins. Returns how many there were.
local function countCall(callsPerSecond, isUrgent)
  local tat = math.max(tonumber(redis.call('HGET', pace, 'tat')) or 0, now)
  redis.call('HSET', pace, 'tat', tat + 1000 / callsPerSecond)
  if not isUrgent then redis.call('HDEL', pace, 'booked') end
  return redis.call('HINCRBY', pace, 'calls', 1)
end

-- A call may begin only for the mirror, endpoint, generation and scripts that the guard names, and on the very run of Redis
-- whose losses were repaired.
local function isShut(pass)
  local state = redis.call('HMGET', guard, 'open', 'pass')
  return state[1] ~= '1' or state[2] ~= pass
end

-- Whether new products that the caller got from its mirror, in this session, are its own still.
local function holdsNew(session)
  return session ~= '' and redis.call('HGET', guard, 'session') == session
end

-- The answer for the caller where no call may begin now.
local function withheldCall(pass, callsPerSecond, isUrgent)
  if isShut(pass) then return { 'shut' } end
  local reasons = redis.call('HKEYS', pause)
  if #reasons > 0 then return { 'paused', unpack(reasons) } end
  local heldMs = heldForMs()
  if heldMs > 0 then return { 'wait', math.ceil(heldMs) } end
  return withheldByRate(callsPerSecond, isUrgent)
end

-- How long until the first of what is not due yet is, and at most `atMostMs`; -1: nothing waits, or no bound.
local function nextDueMs(atMostMs)
  local nextMs = atMostMs
  for _, key in ipairs({ new, deferred, echoes }) do
    local first = redis.call('ZRANGEBYSCORE', key, '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if first[2] and (nextMs < 0 or first[2] - now < nextMs) then nextMs = first[2] - now end
  end
  return nextMs
end

local laneKeys = { u = urgent, n = new, d = deferred }
local rank = { u = 1, n = 2, d = 3 }

local function laneOf(id)
  for lane, key in pairs(laneKeys) do
    local score = redis.call('ZSCORE', key, id)
    if score then return lane, score end
  end
end

local function leaveLanes(id)
  for _, key in pairs(laneKeys) do redis.call('ZREM', key, id) end
end

-- `pending` holds of each document that was offered its digest, what it is there for (u n d: a lane, e: an echo alone, r:
-- refused, which is not decided yet) and its bytes, which count whether Redis has the document itself or not.
local function readHeld(held)
  if held then return string.sub(held, 1, 16), string.sub(held, 17, 17), tonumber(string.sub(held, 18)) end
end

local function heldDocument(id)
  return readHeld(redis.call('HGET', pending, id))
end

local function holdDocument(id, digest, purpose, newSize)
  local _, before, size = heldDocument(id)
  if before then redis.call('HINCRBY', bytes, before, -size) end
  size = newSize or size or 0
  redis.call('HINCRBY', bytes, purpose, size)
  redis.call('HSET', pending, id, digest .. purpose .. size)
end

local function dropDocument(id)
  local _, before, size = heldDocument(id)
  if before then redis.call('HINCRBY', bytes, before, -size) end
  redis.call('HDEL', pending, id)
  redis.call('HDEL', documents, id)
  leaveLanes(id)
end

-- An echo waits until it is due, then, where it has no document, for the pump.
local function echoOf(id)
  return redis.call('ZSCORE', echoes, id) or redis.call('ZSCORE', requests, id)
end

-- After a loss was repaired, none is due before no call of the time before can take effect any more.
local function echoAt(id, at)
  local earliest = tonumber(redis.call('HGET', guard, 'echoUntil')) or 0
  redis.call('ZREM', requests, id)
  redis.call('ZADD', echoes, 'GT', string.format('%.0f', math.max(at, earliest)), id)
end

local function leaveEchoes(id)
  redis.call('ZREM', echoes, id)
  redis.call('ZREM', requests, id)
end

-- A call may have taken effect: what was acknowledged before counts no longer, and the mirror is told.
local function doubt(id)
  redis.call('HSET', acknowledged, id, '')
end

-- Who holds a product, and since when; nil: nobody. `lane` and `score`: where it was taken from (e: it is an echo alone).
local function readClaim(claim)
  if claim then return string.match(claim, '^(%S+) (%S+) (%S+) (%S+)') end
end

local function claimOf(id)
  return readClaim(redis.call('HGET', claimed, id))
end

-- Of many products at once: a fraction of what as many commands cost. Lua passes some 8,000 values.
local function valuesOf(command, key, ids)
  if #ids == 0 or redis.call('EXISTS', key) == 0 then return {} end
  return redis.call(command, key, unpack(ids))
end

local function eitherOf(some, others)
  if not next(some) then return others end
  for i, value in pairs(others) do some[i] = some[i] or value end
  return some
end

local function areEchoed(ids)
  return eitherOf(valuesOf('ZMSCORE', echoes, ids), valuesOf('ZMSCORE', requests, ids))
end

-- Whether anything of a product is under way, besides what the mirror has to learn.
local function areHeld(ids)
  return eitherOf(eitherOf(valuesOf('HMGET', pending, ids), valuesOf('HMGET', claimed, ids)), areEchoed(ids))
end

-- A send that began at `began` has ended well or was refused: an echo that was due then is used up. Returns whether one was.
local function settleEcho(id, began)
  local due = echoOf(id)
  if not due or tonumber(due) > math.min(tonumber(began), now) then return false end
  leaveEchoes(id)
  return true
end

-- Whether the new products that no call has yet fill one of so many bytes, by the mean of all documents.
local function newFillCall(bodyBytesMax)
  local sum = 0
  for _, size in ipairs(redis.call('HVALS', bytes)) do sum = sum + size end
  return redis.call('ZCARD', new) * sum / math.max(1, redis.call('HLEN', pending)) >= bodyBytesMax * 1.03
end

-- The endpoint may have taught a smaller limit.
local function limitedTo(bodyBytesMax)
  return math.min(bodyBytesMax, tonumber(redis.call('HGET', pace, 'bodyBytes')) or bodyBytesMax)
end
