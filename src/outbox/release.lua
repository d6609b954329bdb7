-- Products go back to their lanes, in their old places.
-- KEYS acknowledged pending claimed urgent new deferred echoes leases dead
-- ARGV token last(0|1) outcome(not-sent|sent|unknown|expired) horizonMs then ids
-- All but `not-sent`: the endpoint may hold the document although it was not acknowledged. `unknown` and `expired`: each
-- is also sent once more by a send that begins after the horizon. `expired` acts only on a lease that has ended.
-- Returns how many were released.
local acknowledged, pending, claimed, urgent, new, deferred, echoes, leases, dead = unpack(KEYS)
local token, last, outcome, horizonMs = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local laneKeys = { u = urgent, n = new, d = deferred }
local rank = { u = 1, n = 2, d = 3 }

if outcome == 'expired' then
  local ends = redis.call('ZSCORE', leases, token)
  if ends and tonumber(ends) > now then return 0 end
end

local function currentLane(id)
  for lane, key in pairs(laneKeys) do
    if redis.call('ZSCORE', key, id) then return lane end
  end
end

local function restore(id, lane, score)
  if redis.call('HEXISTS', pending, id) == 0 or redis.call('HEXISTS', dead, id) == 1 then return end
  local current = currentLane(id)
  if lane == 'e' then
    -- Something became pending while only an echo was in flight: its own offer has placed it.
    if not current then redis.call('ZADD', urgent, now, id) end
    return
  end
  if current and rank[current] < rank[lane] then return end
  if current then redis.call('ZREM', laneKeys[current], id) end
  redis.call('ZADD', laneKeys[lane], score, id)
end

-- What was acknowledged before may have been replaced at the endpoint: an edit that is undone now is sent all the same.
local function doubt(id)
  if redis.call('HEXISTS', pending, id) == 1 and redis.call('HEXISTS', acknowledged, id) == 1 then
    redis.call('HSET', acknowledged, id, '')
  end
end

local count = 0
for i = 5, #ARGV do
  local id = ARGV[i]
  local claim = redis.call('HGET', claimed, id)
  local holder, began, lane, score
  if claim then holder, began, lane, score = string.match(claim, '^(%S+) (%S+) (%S+) (%S+)') end
  if holder == token then
    redis.call('HDEL', claimed, id)
    restore(id, lane, score)
    if outcome ~= 'not-sent' then doubt(id) end
    count = count + 1
  end
  -- Also of a claim that was lost while its call ran (its lease ended, or Redis lost it): the call may outlast the
  -- sends of others.
  if outcome == 'unknown' or (holder == token and outcome == 'expired') then
    redis.call('ZADD', echoes, 'GT', now + horizonMs, id)
  elseif outcome == 'sent' and holder ~= token then
    redis.call('ZADD', echoes, 'GT', now, id)
  end
end
if last == '1' then redis.call('ZREM', leases, token) end
return count
