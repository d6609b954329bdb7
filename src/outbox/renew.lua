-- Extends a lease that has not ended. KEYS leases · ARGV token leaseMs · Returns 1, or 0 when it has ended.
local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not ends or tonumber(ends) <= now then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
return 1
