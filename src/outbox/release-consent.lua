-- A consent goes back to its lane: to its old place when nothing was sent, else behind all others that are due. A grant
-- that was not confirmed goes before all others, since behind a long backlog it would miss its horizon.
-- KEYS pending claimed urgent new leases dead meta unconfirmed
-- ARGV token how(not-sent|busy|failed|expired) id grantDigest · Returns 1 when it was bound.
local pending, claimed, urgent, new, leases, dead, meta, unconfirmed = unpack(KEYS)
local token, how, id, grantDigest = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

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
local wanted = redis.call('HGET', pending, id)
if not waits and wanted and redis.call('HEXISTS', dead, id) == 0 then
  local position = redis.call('HGET', meta, id) or ''
  local attempt = redis.call('HGET', unconfirmed, id) or ''
  local isHurried = wanted == grantDigest and position ~= '' and string.sub(attempt, 1, #position) == position
  if isHurried and how ~= 'busy' then
    redis.call('ZADD', urgent, score, id)
  else
    redis.call('ZADD', lane == 'u' and urgent or new, how == 'not-sent' and score or now, id)
  end
end
return 1
