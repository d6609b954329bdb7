-- Dead letters go back to the outbox (retry) or are settled for good (drop): their document then counts as
-- acknowledged, until a newer one comes.
-- Where Redis has forgotten a dead letter that is dropped by its digest, the document goes out once more; when it is
-- refused again, `reject` settles it.
-- KEYS acknowledged pending new urgent deferred dead dropped
-- ARGV how(retry|drop) then per product: id, digest ('' stands for any) · Returns the ids it acted on.
local acknowledged, pending, new, urgent, deferred, dead, dropped = unpack(KEYS)
local done = {}
for i = 2, #ARGV, 2 do
  local id, digest = ARGV[i], ARGV[i + 1]
  local letter = redis.call('HGET', dead, id)
  local refused = letter and string.sub(letter, 1, 16)
  if refused and (digest == '' or digest == refused) then
    redis.call('HDEL', dead, id)
    table.insert(done, id)
    if ARGV[1] == 'drop' then
      redis.call('HSET', acknowledged, id, refused)
      redis.call('HDEL', pending, id)
    elseif redis.call('HEXISTS', pending, id) == 1 then
      redis.call('ZADD', redis.call('HEXISTS', acknowledged, id) == 1 and urgent or new, now, id)
    end
  elseif ARGV[1] == 'drop' and digest ~= '' and redis.call('HGET', acknowledged, id) ~= digest then
    redis.call('HSET', dropped, id, digest)
  end
end
return done
