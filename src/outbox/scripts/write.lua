-- One small write of what delivery has to remember, also when Redis is full.
-- ARGV which(pace|pause|probed|probeTurn) command and its arguments
local keys = { pace = pace, pause = pause, probed = probed, probeTurn = probeTurn }
return redis.call(ARGV[2], keys[ARGV[1]], unpack(ARGV, 3))
