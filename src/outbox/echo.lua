-- Each product with a document is sent once more by a send that begins from now on (resync).
-- KEYS documents echoes · ARGV ids · Returns how many.
local documents, echoes = KEYS[1], KEYS[2]
local count = 0
for _, id in ipairs(ARGV) do
  if redis.call('HEXISTS', documents, id) == 1 then
    redis.call('ZADD', echoes, 'GT', now, id)
    count = count + 1
  end
end
return count
