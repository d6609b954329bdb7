-- No call starts before so many ms have passed; a longer wait that stands already is kept.
-- ARGV forMs reason
local forMs, reason = tonumber(ARGV[1]), ARGV[2]
if forMs > heldForMs() then
  redis.call('HSET', pace, 'until', string.format('%.0f', now + forMs), 'untilFor', forMs, 'untilReason', reason)
end
return redis.status_reply('OK')
