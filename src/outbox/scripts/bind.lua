-- Products of a call that was made without Redis become those of its claim, as if it had claimed them here.
-- ARGV session token leaseMs then per product: id, digest, lane (u n d), bytes of its document
-- Returns 1, or 0 when another process has taken over.
local session, token, leaseMs = ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('HGET', guard, 'session') ~= session then return 0 end

local function bind(id, digest, lane, size)
  if claimOf(id) then return end
  if not heldDocument(id) then holdDocument(id, digest, lane, size) end
  redis.call('HSET', claimed, id, string.format('%s %.0f %s %.0f', token, now, lane, now))
end

for i = 4, #ARGV, 4 do bind(unpack(ARGV, i, i + 3)) end
redis.call('ZADD', leases, 'GT', now + leaseMs, token)
return 1
