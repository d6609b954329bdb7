-- Whether products that are claimed already may be sent in one more call. Counts against the rate as a claim does.
-- KEYS pause pace · ARGV callsPerSecond · Returns {'paused', reason…} | {'wait', ms} | {'admitted'}
local pause, pace = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reasons = redis.call('HKEYS', pause)
if #reasons > 0 then return { 'paused', unpack(reasons) } end
local state = redis.call('HMGET', pace, 'until', 'tat')
local holdMs = (tonumber(state[1]) or 0) - now
if holdMs > 0 then return { 'wait', math.ceil(holdMs) } end
local callsPerSecond = tonumber(ARGV[1])
local intervalMs = 1000 / callsPerSecond
-- As in a claim.
local tat = math.min(math.max(tonumber(state[2]) or 0, now), now + (math.ceil(callsPerSecond / 10) + 2) * intervalMs)
local rateMs = tat - intervalMs - now
if rateMs > 0 then return { 'wait', math.ceil(rateMs) } end
redis.call('HSET', pace, 'tat', tat + intervalMs)
return { 'admitted' }
