-- gcra: the twin of core/engines/gcra.h; token_bucket, leaky_bucket and
-- uniform run it too.
--
-- State:  the arrival time, us (double); ticks of 1 / limit us (5 bytes)
-- Record: limit, window (reduced), burst, max_wait
-- Step:   cost; cost * window / limit in us and ticks; burst * window / limit
--         in us, and what may be reserved more; limit; the burst's ticks; the
--         horizon's two parts; window; the burst's us
-- Check:  gcra_check
-- Charge: word_charge
local kBytes = 13

local function Load(value, at)
  local tat, ticks = unpack('<dI5', value, at)
  return {tat = tat, ticks = ticks}
end

local function Save(s) return pack('<dI5', s.tat, s.ticks) end

local function Params(record)
  local n = ReadNumbers(record, 1)
  local p = {record = record, limit = n[1], window = n[2]}
  p.burst_us, p.burst_ticks = MulDiv(n[3], p.window, p.limit)
  local longest = p.burst_us
  if p.burst_ticks > 0 then longest = longest + 1 end
  p.back, p.ahead = longest + n[4], longest
  return p
end

local function Step(record, bytes)
  local n, us, ticks, most, limit, burst_ticks, back, ahead, window, burst_us =
    unpack('<dddddddddd', bytes, 11)
  return {record = record, limit = limit, window = window, burst_us = burst_us,
          burst_ticks = burst_ticks, back = back, ahead = ahead},
         {us = us, ticks = ticks, most = most}, n
end

local function Fresh(p, t) return {tat = t, ticks = 0} end

local function FreshAt(p, s)
  if s.ticks > 0 then return s.tat + 1 end
  return s.tat
end

-- Rounded up: the horizon is whole, so this compares as the exact time does.
local function StoredTime(p, s) return FreshAt(p, s) end

local function Horizon(p) return p.back, p.ahead end

-- How far the arrival time lies ahead of t, in us and ticks.
local function Ahead(s, t)
  if s.tat < t then return 0, 0 end
  return s.tat - t, s.ticks
end

local function At(t, us, ticks)
  if us > kMaxExact - t then return {tat = kMaxExact, ticks = 0} end
  return {tat = t + us, ticks = ticks}
end

local function Cut(p, t) return At(t, p.burst_us, p.burst_ticks) end

-- us and ticks of both, together.
local function Sum(p, us, ticks, c)
  us, ticks = us + c.us, ticks + c.ticks
  if ticks >= p.limit then return us + 1, ticks - p.limit end
  return us, ticks
end

-- A reservation may lie beyond the burst.
local function Admits(p, s, t, c)
  local us, ticks = Ahead(s, t)
  us, ticks = Sum(p, us, ticks, c)
  return us < c.most or (us == c.most and ticks <= p.burst_ticks)
end

local function Charge(p, s, t, c)
  if s.tat < t then s = Fresh(p, t) end
  local tat, ticks = Sum(p, s.tat, s.ticks, c)
  return {tat = tat, ticks = ticks}
end

local function Refund(p, s, t, n)
  local us, ticks = MulDiv(n, p.window, p.limit)
  us, ticks = s.tat - us, s.ticks - ticks
  if ticks < 0 then us, ticks = us - 1, ticks + p.limit end
  if us < t then return Fresh(p, t) end
  return {tat = us, ticks = ticks}
end

-- What is used, rounded up to whole calls, stays used.
local function Carry(old, p, s, t)
  local us, ticks = Ahead(s, t)
  local used, rest = MulDiv(us, old.limit, old.window)
  used = math.min(kMaxExact, used + math.ceil((rest + ticks) / old.window))
  return At(t, MulDiv(used, p.window, p.limit))
end

return WordView({kBytes = kBytes, Load = Load, Save = Save, Params = Params,
                 Fresh = Fresh, FreshAt = FreshAt, StoredTime = StoredTime,
                 Horizon = Horizon, Cut = Cut, Admits = Admits,
                 Charge = Charge, Refund = Refund, Carry = Carry}), Step, Params
