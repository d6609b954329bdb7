-- Whether products that are claimed already may be sent in one more call. Counts against the rate as a claim does.
-- ARGV pass callsPerSecond · Returns {'shut'} | {'paused', reason…} | {'wait', ms[, calls so far]} | {'admitted'}
if isShut(ARGV[1]) then return { 'shut' } end
local reasons = redis.call('HKEYS', pause)
if #reasons > 0 then return { 'paused', unpack(reasons) } end
local heldMs = heldForMs(pace)
if heldMs > 0 then return { 'wait', math.ceil(heldMs) } end
local callsPerSecond = tonumber(ARGV[2])
local withheld = withheldByRate(pace, callsPerSecond, false)
if withheld then return withheld end
countCall(pace, callsPerSecond, false)
return { 'admitted' }
