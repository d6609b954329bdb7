-- One process at a time offers and drains. Transactions of another one that watched the guard fail from now on.
-- ARGV session holder leaseMs
-- Returns 0, or for how many ms another holder's lease still runs. The same holder (the same state folder, whose lock on
-- disk decides between processes) takes it at once.
local session, holder, leaseMs = ARGV[1], ARGV[2], tonumber(ARGV[3])
local state = redis.call('HMGET', guard, 'session', 'holder', 'leaseEnds')
local restMs = (tonumber(state[3]) or 0) - now
if state[2] and state[2] ~= holder and restMs > 0 and restMs <= leaseMs then return math.ceil(restMs) end
redis.call('HSET', guard, 'session', session, 'holder', holder, 'leaseEnds', string.format('%.0f', now + leaseMs))
return 0
