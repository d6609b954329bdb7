-- One small write of what delivery has to remember. KEYS pace, then what is written · ARGV command and its arguments
return redis.call(ARGV[1], KEYS[2], unpack(ARGV, 2))
