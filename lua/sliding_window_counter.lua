-- sliding_window_counter: the twin of core/engines/sliding_window_counter.h.
--
-- State:  number of the window; used in the one before; used in it (doubles)
-- Record: limit, window
-- Step:   cost, limit, window
-- Check:  sliding_window_counter_check
-- Charge: word_charge
local kBytes = 24

local function Load(value, at)
  local number, previous, current = unpack('<ddd', value, at)
  return {number = number, previous = previous, current = current}
end

local function Save(s)
  return pack('<ddd', s.number, s.previous, s.current)
end

local function Params(record)
  local n = ReadNumbers(record, 1)
  return {record = record, limit = n[1], window = n[2]}
end

local function Step(record, bytes)
  local cost, limit, window = unpack('<ddd', bytes, 11)
  return {record = record, limit = limit, window = window}, cost, cost
end

local function Number(p, t) return math.floor(t / p.window) end

local function Fresh(p, t)
  return {number = Number(p, t), previous = 0, current = 0}
end

local function StoredTime(p, s) return s.number * p.window end
local function Horizon(p) return 2 * p.window, 2 * p.window end

local function Cut(p, t)
  return {number = Number(p, t), previous = 0, current = p.limit}
end

-- The two windows at t; a reading from before them belongs to them too.
local function Roll(p, s, t)
  local number = Number(p, t)
  if number <= s.number then return s end
  local previous = 0
  if number == s.number + 1 then previous = s.current end
  return {number = number, previous = previous, current = 0}
end

-- How much of the window before is still covered, us.
local function Covered(p, s, t)
  return p.window - math.max(0, t - s.number * p.window)
end

-- previous * covered / window + current + cost <= limit
local function Admits(p, s, t, cost)
  local r = Roll(p, s, t)
  local room = p.limit - cost - r.current
  if room < 0 then return false end
  return room >= r.previous or
         ProductAtMost(r.previous, Covered(p, r, t), room, p.window)
end

local function Charge(p, s, t, cost)
  local r = Roll(p, s, t)
  return {number = r.number, previous = r.previous,
          current = math.min(kMaxExact, r.current + cost)}
end

-- From the current window first, then from the one before.
local function Refund(p, s, t, n)
  local r = Roll(p, s, t)
  local from_current = math.min(n, r.current)
  local from_previous = math.min(n - from_current, r.previous)
  return {number = r.number, previous = r.previous - from_previous,
          current = r.current - from_current}
end

local function FreshAt(p, s, t)
  local r = Roll(p, s, t)
  if r.current > 0 then return (r.number + 2) * p.window end
  if r.previous > 0 then return (r.number + 1) * p.window end
  return t
end

-- In windows of another length all that is used counts as current. A reading
-- from before the window moves nothing back.
local function Carry(old, p, s, t)
  if old.window == p.window then return s end
  local r = Roll(old, s, t)
  local used, rest = MulDiv(r.previous, Covered(old, r, t), old.window)
  if rest > 0 then used = used + 1 end
  local at = math.max(t, s.number * old.window)
  return {number = Number(p, at), previous = 0,
          current = math.min(kMaxExact, r.current + used)}
end

return WordView({kBytes = kBytes, Load = Load, Save = Save, Params = Params,
                 Fresh = Fresh, FreshAt = FreshAt, StoredTime = StoredTime,
                 Horizon = Horizon, Cut = Cut, Admits = Admits,
                 Charge = Charge, Refund = Refund, Carry = Carry}), Step, Params
