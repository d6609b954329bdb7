-- Products go back to their lanes, in their old places.
-- ARGV token last(0|1) outcome(not-sent|not-found|sent|unknown|expired) horizonMs then ids
-- `not-found`: who claimed it has no document of it, and the pump is asked for one.
-- All others but `not-sent`: the endpoint may hold the document although it was not acknowledged. `unknown` and `expired`: each
-- is also sent once more by a send that begins after the horizon. `expired` acts only on a lease that has ended.
-- Returns how many were released.
local token, last, outcome, horizonMs = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

if outcome == 'expired' then
  local ends = redis.call('ZSCORE', leases, token)
  if ends and tonumber(ends) > now then return 0 end
end

-- A document that is there for an echo alone waits among the echoes as before.
local function restore(id, lane, score)
  local digest, purpose = heldDocument(id)
  if not laneKeys[purpose] then return end
  local current = laneOf(id)
  if lane == 'e' then lane, score = purpose, now end
  if current and rank[current] <= rank[lane] then return end
  if current then redis.call('ZREM', laneKeys[current], id) end
  redis.call('ZADD', laneKeys[lane], score, id)
  holdDocument(id, digest, lane)
end

-- An echo that is not due yet keeps its time.
local function request(id, score)
  redis.call('ZADD', requests, 'NX', redis.call('ZSCORE', echoes, id) or score, id)
  redis.call('ZREM', echoes, id)
end

local count = 0
for i = 5, #ARGV do
  local id = ARGV[i]
  local holder, _, lane, score = claimOf(id)
  if holder == token then
    redis.call('HDEL', claimed, id)
    if outcome == 'not-found' then
      request(id, score)
    else
      restore(id, lane, score)
      if outcome ~= 'not-sent' then doubt(id) end
    end
    count = count + 1
  end
  -- Also of a claim that was lost while its call ran (its lease ended, or Redis lost it): the call may outlast the
  -- sends of others.
  if outcome == 'unknown' or (holder == token and outcome == 'expired') then
    echoAt(id, now + horizonMs)
    doubt(id)
  elseif outcome == 'sent' and holder ~= token then
    echoAt(id, now)
    doubt(id)
  end
end
if last == '1' then redis.call('ZREM', leases, token) end
return count
