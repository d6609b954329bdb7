-- A grant whose outcome was not confirmed in time waits for the operator, unless a newer record came meanwhile. Its
-- letter bears no digest, so that any newer record revives it, also one that says the same.
-- KEYS meta pending claimed urgent new leases dead counters · ARGV token id position JSON · Returns 1 when it was parked.
local meta, pending, claimed, urgent, new, leases, dead, counters = unpack(KEYS)
local token, id, position = ARGV[1], ARGV[2], ARGV[3]
redis.call('ZREM', leases, token)
local claim = redis.call('HGET', claimed, id)
if not claim or string.match(claim, '^%S+') ~= token then return 0 end
redis.call('HDEL', claimed, id)
if redis.call('HEXISTS', pending, id) == 0 then return 0 end
if redis.call('HGET', meta, id) ~= position then
  if not redis.call('ZSCORE', urgent, id) then redis.call('ZADD', new, 'NX', now, id) end
  return 0
end
redis.call('HSET', dead, id, string.rep('\0', 16) .. ARGV[4])
redis.call('ZREM', urgent, id)
redis.call('ZREM', new, id)
redis.call('HINCRBY', counters, 'refused', 1)
return 1
