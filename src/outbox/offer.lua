-- Puts changed products into the outbox, or takes out those whose edit was undone before it was sent.
-- KEYS acknowledged pending claimed urgent new deferred dead
-- ARGV deferredAfterMs newAfterMs, then per product: id, digest, lane (u n d)
-- Runs inside the writer's MULTI; repeating it changes nothing.
local acknowledged, pending, claimed, urgent, new, deferred, dead = unpack(KEYS)
local deferredAfterMs, newAfterMs = tonumber(ARGV[1]), tonumber(ARGV[2])

local function leaveLanes(id)
  redis.call('ZREM', urgent, id)
  redis.call('ZREM', new, id)
  redis.call('ZREM', deferred, id)
end

-- A product is in one lane; a more urgent change moves it up, a less urgent one leaves it where it is. NX keeps the
-- time of the first unsent edit.
local function place(id, lane, everAcknowledged, inFlight)
  if redis.call('ZSCORE', urgent, id) then return end
  if lane == 'u' then
    redis.call('ZADD', urgent, 'NX', now, id)
    redis.call('ZREM', new, id)
    redis.call('ZREM', deferred, id)
  elseif redis.call('ZSCORE', new, id) then
    return
  elseif lane == 'n' or not (everAcknowledged or inFlight) then
    redis.call('ZADD', new, 'NX', now + newAfterMs, id)
    redis.call('ZREM', deferred, id)
  else
    redis.call('ZADD', deferred, 'NX', now + deferredAfterMs, id)
  end
end

for i = 3, #ARGV, 3 do
  local id, digest, lane = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local known = redis.call('HGET', acknowledged, id)
  local inFlight = redis.call('HEXISTS', claimed, id) == 1
  local refused = redis.call('HGET', dead, id)
  if known == digest and not inFlight then
    redis.call('HDEL', pending, id)
    redis.call('HDEL', dead, id)
    leaveLanes(id)
  elseif refused and string.sub(refused, 1, 16) == digest then
    -- The very document that the endpoint refused: only a newer one revives a dead letter.
    redis.call('HSET', pending, id, digest)
    leaveLanes(id)
  else
    if refused then redis.call('HDEL', dead, id) end
    redis.call('HSET', pending, id, digest)
    place(id, lane, known, inFlight)
  end
end
return redis.status_reply('OK')
