-- fixed_window: the twin of core/engines/fixed_window.h.
--
-- State:  start of the window, us; used in it (doubles)
-- Record: limit, window, 1 if windows stand on the clock, offset in [0, window)
-- Step:   cost, limit, window, as above
-- Check:  fixed_window_check
-- Charge: word_charge
local kBytes = 16

local function Load(value, at)
  local start, used = unpack('<dd', value, at)
  return {start = start, used = used}
end

local function Save(s) return pack('<dd', s.start, s.used) end

local function Params(record)
  local n = ReadNumbers(record, 1)
  return {record = record, limit = n[1], window = n[2], epoch = n[3],
          offset = n[4]}
end

local function Step(record, bytes)
  local cost, limit, window, epoch, offset = unpack('<ddddd', bytes, 11)
  return {record = record, limit = limit, window = window, epoch = epoch,
          offset = offset}, cost, cost
end

-- By what is left over: a multiple of the window can pass 2^53 where its start
-- does not.
local function Fresh(p, t)
  if p.epoch == 0 then return {start = t, used = 0} end
  local into = math.fmod(t, p.window) - p.offset
  while into < 0 do into = into + p.window end
  return {start = t - into, used = 0}
end

local function StoredTime(p, s) return s.start end
local function Horizon(p) return p.window, p.window end

local function Cut(p, t)
  return {start = Fresh(p, t).start, used = p.limit}
end

-- The window at t: a reading from before its start belongs to it too.
local function Open(p, s, t)
  if t < s.start + p.window then return s end
  return Fresh(p, t)
end

local function Admits(p, s, t, cost)
  return Open(p, s, t).used <= p.limit - cost
end

local function Charge(p, s, t, cost)
  local open = Open(p, s, t)
  return {start = open.start, used = math.min(kMaxExact, open.used + cost)}
end

local function Refund(p, s, t, n)
  local open = Open(p, s, t)
  if open.used <= n then return Fresh(p, t) end
  return {start = open.start, used = open.used - n}
end

local function FreshAt(p, s, t)
  if Open(p, s, t).used > 0 then return s.start + p.window end
  return t
end

-- An open window keeps its start and what was used. If the new length would
-- have ended it already, it opens anew with what was used.
local function Carry(old, p, s, t)
  if t >= s.start + old.window then return Fresh(p, t) end
  if t < s.start + p.window then return s end
  return {start = Fresh(p, t).start, used = s.used}
end

return WordView({kBytes = kBytes, Load = Load, Save = Save, Params = Params,
                 Fresh = Fresh, FreshAt = FreshAt, StoredTime = StoredTime,
                 Horizon = Horizon, Cut = Cut, Admits = Admits,
                 Charge = Charge, Refund = Refund, Carry = Carry}), Step, Params
