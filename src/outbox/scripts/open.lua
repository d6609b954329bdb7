-- The last step of a repair, of starting over and of the first start: Redis belongs to this mirror, and calls may begin.
-- ARGV session how(restarted|repaired|start-over) beat urgent new deferred (positions) echoForMs then the guard's fields
-- restarted: all is as it was · repaired: nothing is left of any product, but what was acknowledged or doubted since the
-- mirror has read all; doubts that are offered within `echoForMs` are echoed then · start-over: nothing is left at all
-- Returns 1, or 0 when another process has taken over.
local session, how, echoForMs = ARGV[1], ARGV[2], tonumber(ARGV[7])
if redis.call('HGET', guard, 'session') ~= session then return 0 end
if how ~= 'restarted' then
  for _, key in ipairs({ documents, pending, urgent, new, deferred, echoes, requests, claimed, leases, dead, refusals, bytes }) do
    redis.call('UNLINK', key)
  end
  redis.call('HSET', guard, 'echoUntil', string.format('%.0f', now + echoForMs))
end
if how == 'start-over' then redis.call('UNLINK', acknowledged) end
redis.call('SET', beat, ARGV[3])
redis.call('HSET', positions, 'urgent', ARGV[4], 'new', ARGV[5], 'deferred', ARGV[6])
redis.call('HSET', guard, 'open', '1', unpack(ARGV, 8))
return 1
