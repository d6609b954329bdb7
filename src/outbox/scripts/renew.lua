-- Extends a lease that has not ended. ARGV pass token leaseMs · Returns 1, or 0 when it has ended or the guard is shut.
local ends = redis.call('ZSCORE', leases, ARGV[2])
if isShut(ARGV[1]) or not ends or tonumber(ends) <= now then return 0 end
redis.call('ZADD', leases, now + tonumber(ARGV[3]), ARGV[2])
return 1
