-- What could be claimed now, without claiming it.
-- ARGV pass bodyBytesMax newSession, as for `claim`
-- Returns { 'shut' } | { urgent due 0|1, anything due 0|1, ms until something is due or -1 }
if isShut(ARGV[1]) then return { 'shut' } end
if redis.call('HLEN', pause) > 0 then return { 0, 0, -1 } end
local heldMs = heldForMs()

-- Products in flight may stand at the head of a lane; a few are looked past.
local function due(key)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, 50)) do
    if redis.call('HEXISTS', claimed, id) == 0 then return true end
  end
  return redis.call('ZCOUNT', key, '-inf', now) > 50
end

local urgentDue = due(urgent)
local anyDue = urgentDue or holdsNew(ARGV[3]) or due(new) or newFillCall(limitedTo(tonumber(ARGV[2]))) or due(deferred) or due(echoes)
if heldMs > 0 and anyDue then return { 0, 0, math.ceil(heldMs) } end
return { urgentDue and 1 or 0, anyDue and 1 or 0, nextDueMs(-1) }
