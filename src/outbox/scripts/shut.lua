-- No call begins or goes on from now: leases and claims end, as if they had been lost. ARGV session
-- Returns 1, or 0 when another process has taken over.
if redis.call('HGET', guard, 'session') ~= ARGV[1] then return 0 end
redis.call('HSET', guard, 'open', '0')
redis.call('DEL', claimed)
redis.call('DEL', leases)
return 1
