-- Dead letters go back to the outbox (retry) or are settled for good (drop): their document then counts as
-- acknowledged, until a newer one comes.
-- KEYS acknowledged pending new urgent deferred dead · ARGV how(retry|drop) then ids · Returns the ids it acted on.
local acknowledged, pending, new, urgent, deferred, dead = unpack(KEYS)
local done = {}
for i = 2, #ARGV do
  local id = ARGV[i]
  local letter = redis.call('HGET', dead, id)
  if letter then
    redis.call('HDEL', dead, id)
    table.insert(done, id)
    if ARGV[1] == 'drop' then
      redis.call('HSET', acknowledged, id, string.sub(letter, 1, 16))
      redis.call('HDEL', pending, id)
    elseif redis.call('HEXISTS', pending, id) == 1 then
      redis.call('ZADD', redis.call('HEXISTS', acknowledged, id) == 1 and urgent or new, now, id)
    end
  end
end
return done
