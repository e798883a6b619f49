-- ar1: the twin of core/engines/ar1.h. The value is made by the same
-- operations on doubles in the same order, so it is the same to the last bit.
--
-- State:  slot; value (doubles)
-- Record: limit and decay_factor (doubles), then resolution, longest, and 1 if
--         denied calls count
-- Step:   cost, limit, decay_factor, resolution, longest reset_after in us
-- Check:  ar1_check
-- Charge: word_charge
local kBytes = 16
local kTrace = 1 / 9007199254740992 -- 2^-53: this no longer changes a sum

local function Load(value, at)
  local slot, v = unpack('<dd', value, at)
  -- An endless one would take for ever to fade.
  if not (slot > -kMaxExact and slot < kMaxExact and v >= 0 and
          v <= kMaxExact) then
    error('WEIRSTATE a key does not hold what ar1 writes', 0)
  end
  return {slot = slot, value = v}
end

local function Save(s) return pack('<dd', s.slot, s.value) end

local function Params(record)
  local limit, decay = unpack('<dd', record)
  local n = ReadNumbers(record, 17)
  return {record = record, limit = limit, decay = decay, resolution = n[1],
          longest = n[2]}
end

local function Step(record, bytes)
  local cost, limit, decay, resolution, longest = unpack('<ddddd', bytes, 11)
  return {record = record, limit = limit, decay = decay,
          resolution = resolution, longest = longest}, cost, cost
end

local function Slot(p, t) return math.floor(t / p.resolution) end

local function Fresh(p, t) return {slot = Slot(p, t), value = 0} end
local function StoredTime(p, s) return s.slot * p.resolution end
local function Horizon(p) return p.longest, p.longest end
local function Cut(p, t) return {slot = Slot(p, t), value = p.limit} end

-- base^n, by repeated squaring.
local function Power(base, n)
  local power = 1
  while n > 0 do
    if n % 2 == 1 then power = power * base end
    base = base * base
    n = math.floor(n / 2)
  end
  return power
end

local function After(p, value, slots)
  value = value / Power(p.decay, slots)
  if value < kTrace then return 0 end
  return value
end

-- The state as of the slot of t; a slot before the last one counts as it.
local function Fade(p, s, t)
  local slot = Slot(p, t)
  if slot <= s.slot then return s end
  return {slot = slot, value = After(p, s.value, slot - s.slot)}
end

local function Admits(p, s, t, cost)
  return Fade(p, s, t).value + cost <= p.limit
end

local function Charge(p, s, t, cost)
  local n = Fade(p, s, t)
  return {slot = n.slot, value = math.min(n.value + cost, kMaxExact)}
end

local function Refund(p, s, t, n)
  local r = Fade(p, s, t)
  local value = r.value - n
  if value < kTrace then value = 0 end
  return {slot = r.slot, value = value}
end

-- The first number of slots after which nothing is left: about what the
-- logarithm gives. From there in longer and longer steps, then halves, since a
-- slow decay's powers are far from it.
local function SlotsUntilFresh(p, value)
  local high = math.max(1, math.floor(math.log(value / kTrace) /
                                      math.log(p.decay)))
  local low, step = high - 1, 1
  while After(p, value, high) > 0 do
    low, high, step = high, high + step, step * 2
  end
  while low > 0 and After(p, value, low) == 0 do
    low, high, step = math.max(0, low - step), low, step * 2
  end
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if After(p, value, middle) == 0 then
      high = middle
    else
      low = middle
    end
  end
  return high
end

local function FreshAt(p, s, t)
  if Fade(p, s, t).value == 0 then return t end
  return (s.slot + SlotsUntilFresh(p, s.value)) * p.resolution
end

-- The value is kept.
local function Carry(old, p, s, t)
  if old.resolution == p.resolution and old.decay == p.decay then return s end
  return {slot = Slot(p, math.max(t, s.slot * old.resolution)),
          value = Fade(old, s, t).value}
end

return WordView({kBytes = kBytes, Load = Load, Save = Save, Params = Params,
                 Fresh = Fresh, FreshAt = FreshAt, StoredTime = StoredTime,
                 Horizon = Horizon, Cut = Cut, Admits = Admits,
                 Charge = Charge, Refund = Refund, Carry = Carry}), Step, Params
