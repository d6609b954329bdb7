-- What was refused unnamed since the last acceptance goes back to the outbox: its refusals meant something else.
-- KEYS acknowledged pending urgent new dead refusals · Returns how many went back.
local acknowledged, pending, urgent, new, dead, refusals = unpack(KEYS)
local count = 0
for _, id in ipairs(redis.call('LRANGE', refusals, 0, -1)) do
  if redis.call('HDEL', dead, id) == 1 and redis.call('HEXISTS', pending, id) == 1 then
    redis.call('ZADD', redis.call('HEXISTS', acknowledged, id) == 1 and urgent or new, 'NX', now, id)
    count = count + 1
  end
end
redis.call('DEL', refusals)
return count
