-- A consent goes back to its lane: to its old place when nothing was sent, else behind all others that are due.
-- KEYS pending claimed urgent new leases dead · ARGV token how(not-sent|failed|expired) id · Returns 1 when it was bound.
local pending, claimed, urgent, new, leases, dead = unpack(KEYS)
local token, how, id = ARGV[1], ARGV[2], ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

if how == 'expired' then
  local ends = redis.call('ZSCORE', leases, token)
  if ends and tonumber(ends) > now then return 0 end
end
redis.call('ZREM', leases, token)
local claim = redis.call('HGET', claimed, id)
local holder, lane, score
if claim then holder, lane, score = string.match(claim, '^(%S+) %S+ (%S+) (%S+)') end
if holder ~= token then return 0 end
redis.call('HDEL', claimed, id)
local waits = redis.call('ZSCORE', urgent, id) or redis.call('ZSCORE', new, id)
if not waits and redis.call('HEXISTS', pending, id) == 1 and redis.call('HEXISTS', dead, id) == 0 then
  redis.call('ZADD', lane == 'u' and urgent or new, how == 'not-sent' and score or now, id)
end
return 1
