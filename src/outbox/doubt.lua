-- Calls that this process made may still take effect, whatever Redis has forgotten of them: each product is sent once more
-- by a send that begins after the horizon. ARGV horizonMs ids
local horizonMs = tonumber(ARGV[1])
for i = 2, #ARGV do
  echoAt(ARGV[i], now + horizonMs)
  doubt(ARGV[i])
end
return redis.status_reply('OK')
