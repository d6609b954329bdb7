-- Raises the beat to one above what the mirror remembers; repeating it changes nothing.
-- ARGV session remembered · Returns 1, or 0 when another process or another state of Redis is met.
if redis.call('HGET', guard, 'session') ~= ARGV[1] then return 0 end
local raised = string.format('%.0f', tonumber(ARGV[2]) + 1)
local known = redis.call('GET', beat)
if known ~= ARGV[2] and known ~= raised then return 0 end
redis.call('SET', beat, raised)
return 1
