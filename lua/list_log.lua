-- Where a log lies in a list, newest first: ListLog of core/engines/log_store.h.
-- The last element, at the right, is \255 and the record. An
-- entry is its time, in 7 bytes with a sign, highest first; then PackEntry.
local function ListLog()
  -- Two commands drop: up to two that have left may wait.
  local Log = {drops_late = true}

  function Log.Record(key)
    local bytes = call('LINDEX', key, -1)
    if not bytes then return nil end
    CheckVersion(key, string.byte(bytes) == 255 and bytes or '')
    return string.sub(bytes, 2)
  end

  function Log.SetRecord(key, record, old)
    local bytes = '\255' .. record
    if old then
      call('LSET', key, -1, bytes)
    else
      call('RPUSH', key, bytes)
    end
  end

  function Log.Size(key) return math.max(0, call('LLEN', key) - 1) end

  function Log.At(key, rank)
    local bytes = call('LINDEX', key, -2 - rank)
    local sum, cost = UnpackEntry(bytes, 8)
    return {time = (unpack('>i7', bytes)), sum = sum, cost = cost}
  end

  -- How many entries are not later than `time`. Mostly few: longer and longer
  -- steps from the oldest on, then halves.
  function Log.CountUpTo(key, time, size)
    local low, step = 0, 1
    while low + step <= size and Log.At(key, low + step - 1).time <= time do
      low = low + step
      step = step * 2
    end
    local high = math.min(size, low + step - 1)
    while low < high do
      local middle = math.floor((low + high) / 2)
      if Log.At(key, middle).time <= time then
        low = middle + 1
      else
        high = middle
      end
    end
    return low
  end

  function Log.Append(key, time, sum, cost)
    call('LPUSH', key, pack('>i7', time) .. PackEntry(sum, cost))
  end

  function Log.RemoveOldest(key, n, record)
    call('LTRIM', key, 0, -2 - n)
    Log.SetRecord(key, record)
  end

  -- `held`: how many there are.
  function Log.RemoveFrom(key, rank, held)
    if rank == 0 then
      call('DEL', key)
    else
      call('LTRIM', key, held - rank, -1)
    end
  end

  return Log
end
