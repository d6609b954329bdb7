-- No call starts before so many ms have passed; a longer wait that stands already is kept.
-- KEYS pace · ARGV forMs reason
local time = redis.call('TIME')
local untilMs = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
local standing = tonumber(redis.call('HGET', KEYS[1], 'until') or '0')
if untilMs > standing then redis.call('HSET', KEYS[1], 'until', string.format('%.0f', untilMs), 'untilReason', ARGV[2]) end
return redis.status_reply('OK')
