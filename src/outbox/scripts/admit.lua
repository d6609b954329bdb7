-- Whether products that are claimed already may be sent in one more call. Counts against the rate as a claim does.
-- ARGV pass callsPerSecond · Returns {'shut'} | {'paused', reason…} | {'wait', ms[, calls so far]} | {'admitted'}
local callsPerSecond = tonumber(ARGV[2])
local withheld = withheldCall(ARGV[1], callsPerSecond, false)
if withheld then return withheld end
countCall(callsPerSecond, false)
return { 'admitted' }
