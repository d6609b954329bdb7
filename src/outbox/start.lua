-- Goes before every script of this folder: it may run when Redis is full, it knows what time it is, and whether the pace of
-- the catalog lets a call begin.
--
-- A full Redis refuses a script whose first write may need memory; after a write that needs none it lets all others
-- through. So what was offered is delivered, which makes room. (Offers are refused: they go with writes of documents.)
redis.call('PERSIST', KEYS[1])

-- The clock of Redis may be set back. What it wrote before then lies further ahead than it can; whoever meets such a time
-- brings it back, so that the wait does not begin anew each time somebody asks.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- How long no call may begin because the endpoint asked for it, or failed; 0 or less: calls may begin.
local function heldForMs(pace)
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
local function withheldByRate(pace, callsPerSecond, isUrgent)
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
local function countCall(pace, callsPerSecond, isUrgent)
  local tat = math.max(tonumber(redis.call('HGET', pace, 'tat')) or 0, now)
  redis.call('HSET', pace, 'tat', tat + 1000 / callsPerSecond)
  if not isUrgent then redis.call('HDEL', pace, 'booked') end
  return redis.call('HINCRBY', pace, 'calls', 1)
end
