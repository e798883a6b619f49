-- quiet_time: the twin of quiet_time.h.
--
-- State:  last, before, cost, used (doubles)
-- Record: limit, pause
-- Step:   cost, limit, pause
local kBytes = 32

local function State(last, before, cost, used)
  return {last = last, before = before, cost = cost, used = used}
end

local function Load(value, at)
  local last, before, cost, used = unpack('<dddd', value, at)
  return State(last, before, cost, used)
end

local function Save(s) return pack('<dddd', s.last, s.before, s.cost, s.used) end

local function Params(record)
  local n = ReadNumbers(record, 1)
  return {record = record, limit = n[1], pause = n[2]}
end

local function Step(record, bytes)
  local cost, limit, pause = unpack('<ddd', bytes, 11)
  return {record = record, limit = limit, pause = pause}, cost, cost
end

local function Fresh(p, t) return State(t, t, 0, 0) end
local function StoredTime(p, s) return s.last end
local function Horizon(p) return p.pause, p.pause end
local function Cut(p, t) return State(t, t, 0, p.limit) end

-- The state as of t.
local function At(p, s, t)
  if t < s.last + p.pause then return s end
  return Fresh(p, t)
end

local function Admits(p, s, t, cost)
  return At(p, s, t).used <= p.limit - cost
end

-- Sums of counts stop at what every store keeps exactly. A reading from before
-- the last call does not move it back.
local function Charge(p, s, t, cost)
  local now = At(p, s, t)
  return State(math.max(now.last, t), now.last, cost,
               math.min(now.used + cost, kMaxExact))
end

local function Refund(p, s, t, n)
  local now = At(p, s, t)
  if now.used <= n then return Fresh(p, t) end
  local undone = n == now.cost and t == now.last
  local last = undone and now.before or now.last
  return State(last, last, 0, now.used - n)
end

local function FreshAt(p, s, t)
  if At(p, s, t).used > 0 then return s.last + p.pause end
  return t
end

-- What is used stays used. If the new pause would be over already, it begins
-- now: a change refills nobody.
local function Carry(old, p, s, t)
  if t >= s.last + old.pause then return Fresh(p, t) end
  if t < s.last + p.pause then return s end
  return State(t, t, 0, s.used)
end

return WordView({kBytes = kBytes, Load = Load, Save = Save, Params = Params,
                 Fresh = Fresh, FreshAt = FreshAt, StoredTime = StoredTime,
                 Horizon = Horizon, Cut = Cut, Admits = Admits,
                 Charge = Charge, Refund = Refund, Carry = Carry}), Step, Params
