-- Binds the consent that has been due longest, revocations first, to one call under a lease.
-- KEYS urgent new claimed leases documents meta acknowledged unconfirmed dead pause pace writer journal
-- ARGV token leaseMs mode(urgent|any) callsPerSecond ignoredPause writerToken writerPosition journalPrefix journalOffset
-- Returns {'paused', reason…} | {'wait', ms[, calls so far]} | {'behind', 'writer' or 'journal'} | {'idle', ms until something is due, or -1}
-- | {'claimed', id, document, position, unconfirmed or '', 1 when an acknowledgement stands}
local urgent, new, claimed, leases, documents, meta, acknowledged, unconfirmed, dead, pause, pace, writer, journal = unpack(KEYS)
local token, leaseMs, mode, callsPerSecond = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])

local reasons = {}
for _, reason in ipairs(redis.call('HKEYS', pause)) do
  if reason ~= ARGV[5] then table.insert(reasons, reason) end
end
if #reasons > 0 then return { 'paused', unpack(reasons) } end

-- A Redis that lost something of what was accepted or acknowledged would hand out a state that is no longer the newest.
local writerToken, writerPosition = string.match(redis.call('GET', writer) or '', '^(.*):(%d+)$')
if writerToken ~= ARGV[6] or tonumber(writerPosition) < tonumber(ARGV[7]) then return { 'behind', 'writer' } end
local prefix, offset = string.match(redis.call('GET', journal) or '', '^(.*):(%d+)$')
if prefix ~= ARGV[8] or tonumber(offset) < tonumber(ARGV[9]) then return { 'behind', 'journal' } end

local heldMs = heldForMs(pace)
if heldMs > 0 then return { 'wait', math.ceil(heldMs) } end
local withheld = withheldByRate(pace, callsPerSecond, mode == 'urgent')
if withheld then return withheld end

-- One in flight stays in a lane when a newer state was accepted meanwhile: it is passed over.
local function first(key)
  local passed = 0
  while true do
    local page = redis.call('ZRANGEBYSCORE', key, '-inf', now, 'WITHSCORES', 'LIMIT', passed, 20)
    if #page == 0 then return end
    for i = 1, #page, 2 do
      local id = page[i]
      if redis.call('HEXISTS', claimed, id) == 1 then
        passed = passed + 1
      elseif redis.call('HEXISTS', documents, id) == 0 or redis.call('HEXISTS', dead, id) == 1 then
        redis.call('ZREM', key, id)
      else
        return id, page[i + 1]
      end
    end
  end
end

local lane, key = 'u', urgent
local id, score = first(urgent)
if not id and mode == 'any' then
  lane, key = 'n', new
  id, score = first(new)
end
if not id then
  local nextMs = -1
  for _, each in ipairs({ urgent, new }) do
    local later = redis.call('ZRANGEBYSCORE', each, '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if later[2] and (nextMs < 0 or later[2] - now < nextMs) then nextMs = later[2] - now end
  end
  return { 'idle', nextMs }
end

redis.call('ZREM', key, id)
local position = redis.call('HGET', meta, id)
redis.call('HSET', claimed, id, token .. ' ' .. string.format('%.0f', now) .. ' ' .. lane .. ' ' .. score .. ' ' .. position)
redis.call('ZADD', leases, now + leaseMs, token)
countCall(pace, callsPerSecond, mode == 'urgent')
return {
  'claimed', id, redis.call('HGET', documents, id), position,
  redis.call('HGET', unconfirmed, id) or '', redis.call('HEXISTS', acknowledged, id),
}
