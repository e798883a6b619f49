-- sliding_log: the twin of core/engines/sliding_log.h, in a sorted set:
-- SortedSetLog of core/engines/log_store.h. Scores are times. A member is the
-- sum of all costs up to and including its own, the cost, and the time again,
-- since the server writes a score out with 17 digits at each reading: 7 bytes
-- each, highest first, the last with a sign. Members without the time, as
-- PackEntry makes them, are read too. The record is a member after \255, at a
-- score below all others. Params, step and reply: log_view.lua.
-- Check:  sliding_log_check
-- Charge: sliding_log_charge
local Log = {}

function Log.Record(key)
  local bytes = call('ZRANGE', key, 0, 0)[1]
  if not bytes then return nil end
  CheckVersion(key, string.byte(bytes) == 255 and bytes or '')
  return string.sub(bytes, 2)
end

function Log.SetRecord(key, record, old)
  if old then call('ZREMRANGEBYRANK', key, 0, 0) end
  call('ZADD', key, '-inf', '\255' .. record)
end

function Log.Size(key) return math.max(0, call('ZCARD', key) - 1) end

function Log.At(key, rank)
  local found = call('ZRANGE', key, rank + 1, rank + 1, 'WITHSCORES')
  local sum, cost = UnpackEntry(found[1], 1)
  return {time = tonumber(found[2]), sum = sum, cost = cost}
end

-- How many entries are not later than `time`.
function Log.CountUpTo(key, time) return call('ZCOUNT', key, '(-inf', time) end

function Log.Append(key, time, sum, cost)
  call('ZADD', key, time, pack('>I7I7i7', sum, cost, time))
end

function Log.RemoveOldest(key, n) call('ZREMRANGEBYRANK', key, 1, n) end

function Log.RemoveFrom(key, rank)
  if rank == 0 then
    call('DEL', key)
  else
    call('ZREMRANGEBYRANK', key, rank + 1, -1)
  end
end

return LogView(Log)
