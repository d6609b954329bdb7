-- Brings back what lies further ahead than any script puts it: the clock of Redis was ahead, and was set back.
-- ARGV how many ms each of them may lie ahead: urgent new deferred echoes requests leases probed probeTurn · Returns 1 when there may be more than was looked at.
local more = 0
for i, key in ipairs({ urgent, new, deferred, echoes, requests, leases, probed, probeTurn }) do
  local aheadMsMax = tonumber(ARGV[i])
  if redis.call('TYPE', key).ok == 'string' then
    if redis.call('PTTL', key) > aheadMsMax then redis.call('PEXPIRE', key, aheadMsMax) end
  else
    local latest = string.format('%.0f', now + aheadMsMax)
    local ahead = redis.call('ZRANGEBYSCORE', key, '(' .. latest, '+inf', 'LIMIT', 0, 2000)
    for _, member in ipairs(ahead) do redis.call('ZADD', key, 'XX', latest, member) end
    if #ahead == 2000 then more = 1 end
  end
end
return more
