-- Binds due products to one call, up to the byte limit, under a lease.
-- ARGV pass token leaseMs bodyBytesMax mode(urgent|any) idsMax callsPerSecond overdueMs urgentGraceMs urgentGatherMs
--   readsRedis(0|1) newSession: where the caller has new products for a call, which
--   Redis does not know, the session with which it got them; else empty
-- Returns {'shut'} | {'paused', reason…} | {'wait', ms[, calls so far]} | {'idle', ms until something is due, or -1}
-- | {'new', bytes that the call may have}: of the caller's new products
-- | {'claimed', how many of each lane (u n d e), id, digest of the offered document, …}
local token, mode = ARGV[2], ARGV[5]
local leaseMs, bodyBytesMax, idsMax = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6])
local callsPerSecond, overdueMs = tonumber(ARGV[7]), tonumber(ARGV[8])
local urgentGraceMs, urgentGatherMs = tonumber(ARGV[9]), tonumber(ARGV[10])
local hasNew = holdsNew(ARGV[12])
-- Echoes without a document that one claim asks the pump for.
local requestsMax = 1000
-- How soon to ask again whether a call is full.
local fillMs = 50

local withheld = withheldCall(ARGV[1], callsPerSecond, mode == 'urgent')
if withheld then return withheld end
-- Who has no mirror needs new products here, and documents: they go along with offers for a while.
if ARGV[11] == '1' then redis.call('HSET', pace, 'readAt', now) end

-- Where one was sent a moment ago, urgent changes wait a moment for those that follow, to share a call: a lone one goes at
-- once, and what is found while it is on its way goes together. Other calls make none wait.
local function gatherForMs()
  local oldest = tonumber(redis.call('ZRANGE', urgent, 0, 0, 'WITHSCORES')[2])
  if not oldest or oldest > now then return 0 end
  local sinceMs = now - (tonumber(redis.call('HGET', pace, 'urgentAt')) or 0)
  return sinceMs >= 0 and sinceMs < urgentGatherMs and oldest + urgentGatherMs - now or 0
end

if mode == 'urgent' then
  local gatherMs = gatherForMs()
  if gatherMs > 0 then return { 'wait', gatherMs } end
end
bodyBytesMax = limitedTo(bodyBytesMax)

local ids, digests, claims, removals = {}, {}, {}, { u = {}, n = {}, d = {} }
local bodyBytes, misfits, asked, full = 2, 0, 0, false
-- Whose product was bound first.
local firstLane
local counts = { u = 0, n = 0, d = 0, e = 0 }
local began = token .. ' ' .. string.format('%.0f', now) .. ' '

local function flush()
  if #claims > 0 then redis.call('HSET', claimed, unpack(claims)) end
  claims = {}
  for lane, members in pairs(removals) do
    if #members > 0 then redis.call('ZREM', laneKeys[lane], unpack(members)) end
    removals[lane] = {}
  end
end

-- An echo is claimed together with whatever is pending of the product: one send serves both.
local function bind(id, lane, score, held)
  firstLane = firstLane or lane
  counts[lane] = counts[lane] + 1
  if lane == 'e' then
    local other, otherScore = laneOf(id)
    if other then lane, score = other, otherScore end
  end
  if lane ~= 'e' then removals[lane][#removals[lane] + 1] = id end
  claims[#claims + 1] = id
  claims[#claims + 1] = began .. lane .. ' ' .. score
  ids[#ids + 1] = id
  digests[#ids] = string.sub(held, 1, 16)
end

-- A product that waits without its document: the pump is asked for it.
local function request(id, key, score)
  redis.call('ZREM', key, id)
  redis.call('ZREM', echoes, id)
  redis.call('ZADD', requests, 'NX', score, id)
  asked = asked + 1
end

-- Products in flight stay in a lane when a change was offered meanwhile: they are passed over, as are documents that
-- do not fit any more (smaller ones behind them may), and echoes of what was refused until the mirror knows that.
local function take(lane, key, dueMs)
  local passed = 0
  while not full and #ids < idsMax and asked < requestsMax do
    local page = redis.call('ZRANGEBYSCORE', key, '-inf', dueMs, 'WITHSCORES', 'LIMIT', passed, 500)
    if #page == 0 then return end
    local pageIds = {}
    for i = 1, #page, 2 do pageIds[#pageIds + 1] = page[i] end
    local held, inFlight = valuesOf('HMGET', pending, pageIds), valuesOf('HMGET', claimed, pageIds)
    for i = 1, #page, 2 do
      local id, score = page[i], page[i + 1]
      local nth = (i + 1) / 2
      local size = held[nth] and tonumber(string.sub(held[nth], 18)) or 0
      local cost = size + (#ids > 0 and 1 or 0)
      if inFlight[nth] or (lane == 'e' and redis.call('HEXISTS', dead, id) == 1) then
        passed = passed + 1
      elseif size == 0 then
        request(id, key, score)
      elseif bodyBytes + cost <= bodyBytesMax then
        bodyBytes = bodyBytes + cost
        bind(id, lane, score, held[nth])
        if lane == 'e' then passed = passed + 1 end
        if #ids >= idsMax then full = true break end
      elseif #ids == 0 then
        -- Alone it is too large for any call: it is handed out alone, to be refused with that reason.
        bind(id, lane, score, held[nth])
        full = true
        break
      else
        passed = passed + 1
        misfits = misfits + 1
        if misfits >= 32 then full = true break end
      end
    end
    flush()
  end
end

-- Whether many more are being offered (`fillsUntil`): then it is asked again soon, for two seconds after the oldest is due.
local function areMoreComing(isDue)
  local state = redis.call('HMGET', pace, 'fillsUntil', 'fillsSince')
  local sinceMs = now - (tonumber(state[2]) or now)
  local isExpected = (tonumber(state[1]) or 0) > now and sinceMs >= 0 and sinceMs <= 2000
  if isExpected and isDue then redis.call('HSETNX', pace, 'fillsSince', now) end
  return isExpected
end

-- New products linger a moment so that calls fill up while a file is imported. Once they fill one, the oldest is due, or a
-- call is made anyway, those behind it go along, due or not.
local isFilling = false
local function takeNewHere(oldest)
  if #ids == 0 and not newFillCall(bodyBytesMax) then
    isFilling = areMoreComing(oldest <= now)
    if isFilling or oldest > now then return end
  end
  redis.call('HDEL', pace, 'fillsSince')
  take('n', new, '+inf')
end

-- Those that the caller has fill a call. Every other one is for those that are due here.
local isNewCall = false
local function takeNew()
  local oldest = tonumber(redis.call('ZRANGE', new, 0, 0, 'WITHSCORES')[2])
  local isTurn = not oldest or oldest > now or redis.call('HEXISTS', pace, 'newHere') == 0
  if oldest and not (isTurn and hasNew and #ids == 0) then takeNewHere(oldest) end
  if hasNew and #ids == 0 and not full then firstLane, isNewCall, full = 'n', true, true end
end

-- Echoes, deferred and new products each come first in at least one of ten calls while any of them is due: seven calls
-- after its last turn a lane has one again, since not every call is open to it.
local function takeTurn()
  local lanes = {
    { take = function() take('e', echoes, now) end },
    { take = function() take('d', deferred, now) end },
    { take = takeNew },
  }
  local state = redis.call('HMGET', pace, 'turn:e', 'turn:d', 'turn:n', 'calls')
  for i, lane in ipairs(lanes) do lane.turn = tonumber(state[i]) or 0 end
  table.sort(lanes, function(a, b) return a.turn < b.turn end)
  for _, lane in ipairs(lanes) do
    if #ids == 0 and lane.turn + 7 <= (tonumber(state[4]) or 0) then lane.take() end
  end
end

if mode == 'urgent' then
  take('u', urgent, now)
else
  takeTurn()
  -- The slot for urgent changes sends them in a small, quick call; only those it has not taken in a moment ride along.
  take('u', urgent, now - urgentGraceMs)
  take('e', echoes, now)
  take('d', deferred, now - overdueMs)
  takeNew()
  take('d', deferred, now)
end
flush()

if #ids == 0 and isFilling and not isNewCall then return { 'wait', fillMs } end
if #ids == 0 and not isNewCall then
  return { 'idle', nextDueMs(mode == 'any' and redis.call('ZCARD', urgent) > 0 and urgentGraceMs or -1) }
end

redis.call('ZADD', leases, now + leaseMs, token)
local calls = countCall(callsPerSecond, mode == 'urgent')
if mode == 'urgent' then
  redis.call('HSET', pace, 'urgentAt', now)
else
  redis.call('HSET', pace, 'turn:' .. firstLane, calls)
  if isNewCall then redis.call('HSET', pace, 'newHere', 1)
  elseif firstLane == 'n' then redis.call('HDEL', pace, 'newHere') end
end
if isNewCall then return { 'new', bodyBytesMax } end
local answer = { 'claimed', table.concat({ counts.u, counts.n, counts.d, counts.e }, ' ') }
for i, id in ipairs(ids) do
  answer[2 * i + 1] = id
  answer[2 * i + 2] = digests[i]
end
return answer
