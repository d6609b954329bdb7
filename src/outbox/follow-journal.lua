-- Takes over lines of the journal of consents, in their order. Repeating lines changes nothing.
-- KEYS acknowledged acknowledgedMeta unconfirmed meta pending claimed urgent new leases dead journal pace refusals counters
-- ARGV journalPrefix from to, then per line: event, id, position, detail (acknowledged: digest; unconfirmed: ms)
-- Returns 1; 0 when what is known here does not end at `from`: nothing was changed then.
local acknowledged, acknowledgedMeta, unconfirmed, meta, pending, claimed, urgent, new, leases, dead, journal, pace, refusals, counters = unpack(KEYS)

-- Another generation of the journal is followed from its beginning.
local prefix, offset = string.match(redis.call('GET', journal) or '', '^(.*):(%d+)$')
if prefix ~= ARGV[1] then offset = '0' end
if offset ~= ARGV[2] then return 0 end

local function leaveOutbox(id)
  redis.call('HDEL', pending, id)
  redis.call('HDEL', dead, id)
  redis.call('ZREM', urgent, id)
  redis.call('ZREM', new, id)
end

local function endClaim(id, position)
  local claim = redis.call('HGET', claimed, id)
  if not claim then return end
  local token, lane, bound = string.match(claim, '^(%S+) %S+ (%S+) %S+ (%S+)')
  if bound > position then return end
  redis.call('HDEL', claimed, id)
  redis.call('ZREM', leases, token)
  return lane
end

-- A record that is later than the settled one, and says something else, still has to be sent.
local function settle(id, position)
  local wanted = redis.call('HGET', pending, id)
  if not wanted then return end
  local newest = redis.call('HGET', meta, id)
  if not newest or newest <= position or wanted == redis.call('HGET', acknowledged, id) then
    leaveOutbox(id)
  elseif not redis.call('ZSCORE', urgent, id) and not redis.call('ZSCORE', new, id)
    and redis.call('HEXISTS', dead, id) == 0 and redis.call('HEXISTS', claimed, id) == 0 then
    redis.call('ZADD', urgent, now, id)
  end
end

local function isOld(id, position)
  local known = redis.call('HGET', acknowledgedMeta, id)
  return known and known > position
end

local function forgetAttempt(id, position)
  local attempt = redis.call('HGET', unconfirmed, id)
  if attempt and string.sub(attempt, 1, #position) <= position then redis.call('HDEL', unconfirmed, id) end
end

local count = 0
local events = {}

events['acknowledged'] = function(id, position, digest)
  if not isOld(id, position) then
    redis.call('HSET', acknowledged, id, digest)
    redis.call('HSET', acknowledgedMeta, id, position)
  end
  forgetAttempt(id, position)
  local lane = endClaim(id, position)
  if lane then
    count = count + 1
    redis.call('HINCRBY', counters, 'acknowledged:' .. lane, 1)
  end
  settle(id, position)
end

-- What was acknowledged before may have been replaced at the endpoint: a state that is taken back is sent all the same.
events['failed'] = function(id, position)
  local known = redis.call('HGET', acknowledgedMeta, id)
  if known and known < position then redis.call('HSET', acknowledged, id, '') end
end

events['unconfirmed'] = function(id, position, at)
  local known = redis.call('HGET', acknowledgedMeta, id)
  if known and known >= position then return end
  if known then redis.call('HSET', acknowledged, id, '') end
  local attempt = redis.call('HGET', unconfirmed, id)
  if not attempt or string.sub(attempt, 1, #position) < position then
    redis.call('HSET', unconfirmed, id, position .. ' ' .. at)
  end
end

events['retry'] = forgetAttempt

-- Settled without an acknowledgement: any later record is sent, whatever it says.
events['drop'] = function(id, position)
  if isOld(id, position) then return end
  redis.call('HSET', acknowledged, id, '')
  redis.call('HSET', acknowledgedMeta, id, position)
  forgetAttempt(id, position)
  settle(id, position)
end

for i = 4, #ARGV, 4 do events[ARGV[i]](ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]) end
redis.call('SET', journal, ARGV[1] .. ':' .. ARGV[3])
if count > 0 then
  redis.call('HDEL', pace, 'failures')
  redis.call('DEL', refusals)
end
return 1
