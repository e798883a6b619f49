-- One key of an engine that keeps a log: LogView of core/engines/log_view.h.
-- `Log` says where the log lies (log_store.h): Size, At, CountUpTo, Append,
-- RemoveOldest, RemoveFrom, and Record, SetRecord for the record.
--
-- Record: limit, keep, resolution
-- Step:   cost, limit, keep, resolution
-- Reply:  used; time of the newest entry; time of the last entry that has to
--         leave before the call passes (doubles)
--
-- Ranks count from 0, the oldest entry first. Ranks below v.expired have left
-- and wait to be dropped. Where the whole use counts as one entry that is not
-- stored yet, it is the lump.

-- Entries: the sum of all costs up to and including its own, then the cost if
-- that is not 1; 7 bytes each, highest first.
local function PackEntry(sum, cost)
  if cost == 1 then return pack('>I7', sum) end
  return pack('>I7I7', sum, cost)
end

local function UnpackEntry(bytes, at)
  if #bytes < at + 13 then return unpack('>I7', bytes, at), 1 end
  local sum, cost = unpack('>I7I7', bytes, at)
  return sum, cost
end

local function LogView(Log)
  local kDropAtOnce = 32

  local function Params(record)
    local n = ReadNumbers(record, 1)
    return {record = record, limit = n[1], keep = n[2], resolution = n[3]}
  end

  local function Step(record, bytes)
    local cost, limit, keep, resolution = unpack('<dddd', bytes, 11)
    return {record = record, limit = limit, keep = keep,
            resolution = resolution}, cost, cost
  end

  -- When a charge at `time` counts as made: at the start of its slot.
  local function Date(p, time)
    if p.resolution == 0 then return time end
    return math.floor(time / p.resolution) * p.resolution
  end

  local function SetLump(v, date, used)
    v.lump, v.newest, v.used = true, date, used
  end

  local function Open(key, p, t, slack)
    local v = {key = key, p = p, t = t, slack = slack, now = t, held = 0,
               expired = 0, newest = 0, sum = 0, before = 0, used = 0,
               record = nil, cut = false, lump = false, drop_all = false}
    v.held = Log.Size(key)
    if v.held == 0 then return v end
    local record = Log.Record(key)
    v.record = record
    local was = p
    if record ~= p.record then was = Params(record) end
    local newest = Log.At(key, v.held - 1)
    if newest.time - was.keep > t + was.keep then
      v.cut = true
      SetLump(v, Date(p, t), p.limit)
      return v
    end
    v.now = math.max(t, newest.time)
    v.newest, v.sum = newest.time, newest.sum
    local oldest = newest
    if v.held > 1 then oldest = Log.At(key, 0) end
    if oldest.time <= v.now - was.keep then
      v.expired = Log.CountUpTo(key, v.now - was.keep, v.held)
      if v.expired == v.held then return v end
      oldest = Log.At(key, v.expired)
    end
    v.before = oldest.sum - oldest.cost
    v.used = v.sum - v.before
    -- What had left the old window stays out of a longer new one; what would
    -- leave because the new one is shorter counts as made now.
    v.drop_all = was.keep < p.keep
    if was.keep > p.keep or was.resolution ~= p.resolution then
      SetLump(v, Date(p, v.now), v.used)
    end
    return v
  end

  local function Admits(v, cost) return v.used <= v.p.limit - cost end

  -- Every write ends here: the record is right, and the key will expire.
  local function Expire(v)
    if v.record ~= v.p.record then
      Log.SetRecord(v.key, v.p.record, v.record)
      v.record = v.p.record
    end
    call('PEXPIRE', v.key, LifeOf(v.newest + v.p.keep - v.t, v.slack))
  end

  local function Append(v, time, sum, cost)
    v.newest = time
    if not v.record then
      Log.SetRecord(v.key, v.p.record)
      v.record = v.p.record
    end
    Log.Append(v.key, time, sum, cost)
    v.held = v.held + 1
  end

  -- Nothing is inside: the sums begin again.
  local function Forget(v)
    if v.held > 0 then call('DEL', v.key) end
    v.record = nil
    v.held, v.expired, v.sum, v.before, v.used = 0, 0, 0, 0, 0
    v.cut, v.lump = false, false
  end

  local function StoreLump(v)
    if not v.lump then return end
    local used = v.used
    Forget(v)
    v.sum, v.used = used, used
    Append(v, v.newest, used, used)
  end

  -- The first rank inside whose sum is above `sum`.
  local function FirstAbove(v, sum)
    local low, high = v.expired, v.held - 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      if Log.At(v.key, middle).sum > sum then
        high = middle
      else
        low = middle + 1
      end
    end
    return low
  end

  -- Do those that have left wait for others? By slots they must not: a reading
  -- may go back within the newest one. Never more than `limit` are held.
  local function MayWait(v, cost)
    return Log.drops_late and v.p.resolution == 0 and not v.drop_all and
           v.expired < 3 and v.used + cost + v.expired <= v.p.limit
  end

  local function Drop(v, most)
    local n = most
    if not v.drop_all then n = math.min(n, kDropAtOnce) end
    if n == 0 then return end
    Log.RemoveOldest(v.key, n, v.record)
    v.held, v.expired = v.held - n, v.expired - n
  end

  -- The sums have reached 2^53: they count anew from the oldest entry inside.
  local function Rebase(v)
    local entries = {}
    for rank = v.expired, v.held - 1 do
      entries[#entries + 1] = Log.At(v.key, rank)
    end
    local before = v.before
    call('DEL', v.key)
    v.held, v.expired, v.record = 0, 0, nil
    for _, e in ipairs(entries) do Append(v, e.time, e.sum - before, e.cost) end
    v.sum, v.before = v.sum - before, 0
  end

  local function Charge(v, cost)
    StoreLump(v)
    if v.used == 0 then
      Forget(v)
    elseif not MayWait(v, cost) then
      Drop(v, v.expired)
    end
    cost = math.min(cost, kMaxExact - v.used)
    if cost > 0 then
      if v.sum > kMaxExact - cost then Rebase(v) end
      local time, own = Date(v.p, v.now), cost
      if v.p.resolution > 0 and v.held > v.expired then
        local last = Log.At(v.key, v.held - 1)
        if last.time == time then
          own = own + last.cost
          v.held = v.held - 1
          Log.RemoveFrom(v.key, v.held, v.held + 1)
          if v.held == 0 then v.record = nil end
        end
      end
      v.sum, v.used = v.sum + cost, v.used + cost
      Append(v, time, v.sum, own)
    end
    Expire(v)
  end

  -- Newest first; an entry that is given back in part stays where it is.
  local function Refund(v, n)
    if v.used == 0 or n == 0 then return end
    StoreLump(v)
    Drop(v, v.expired)
    if n >= v.used then
      Forget(v)
      return
    end
    local keep = v.sum - n
    local rank = FirstAbove(v, keep)
    local part = Log.At(v.key, rank)
    local cost = keep - (part.sum - part.cost)
    Log.RemoveFrom(v.key, rank, v.held)
    if rank == 0 then v.record = nil end
    v.held, v.sum, v.used = rank, keep, v.used - n
    if cost > 0 then
      Append(v, part.time, keep, cost)
    else
      v.newest = Log.At(v.key, rank - 1).time
    end
    Expire(v)
  end

  local function Settle(v)
    if not v.cut then return end
    StoreLump(v)
    Expire(v)
  end

  -- The last one that has to leave, where the call has to wait for it.
  local function Last(v, cost)
    if cost > v.p.limit or Admits(v, cost) then return 0 end
    if v.lump then return v.newest end
    local leave = v.used - v.p.limit + cost
    return Log.At(v.key, FirstAbove(v, v.before + leave - 1)).time
  end

  local function Reply(v, cost, waits)
    return pack('<ddd', v.used, v.newest, waits and Last(v, cost) or 0)
  end

  return {RecordOf = Log.Record, Open = Open, Admits = Admits, Charge = Charge,
          Refund = Refund, Settle = Settle, Reply = Reply}, Step, Params
end
