-- windowed_token_bucket: the twin of core/engines/windowed_token_bucket.h.
--
-- State:  start of the window, us; time of the last charge, us; tokens, whole
--         ones and parts of 1 / window, as of then; used in the window
--         (doubles)
-- Record: limit, window, burst, 1 if capped
-- Step:   cost, limit, window, burst, 1 if capped
-- Check:  windowed_token_bucket_check
-- Charge: word_charge
local kBytes = 40

local function Load(value, at)
  local start, last, tokens, parts, used = unpack('<ddddd', value, at)
  return {start = start, at = last, tokens = tokens, parts = parts, used = used}
end

local function Save(s)
  return pack('<ddddd', s.start, s.at, s.tokens, s.parts, s.used)
end

local function Params(record)
  local n = ReadNumbers(record, 1)
  return {record = record, limit = n[1], window = n[2], burst = n[3],
          capped = n[4]}
end

local function Step(record, bytes)
  local cost, limit, window, burst, capped = unpack('<ddddd', bytes, 11)
  return {record = record, limit = limit, window = window, burst = burst,
          capped = capped}, cost, cost
end

local function State(start, at, tokens, parts, used)
  return {start = start, at = at, tokens = tokens, parts = parts, used = used}
end

local function Fresh(p, t) return State(t, t, p.burst, 0, 0) end
local function StoredTime(p, s) return s.at end
local function Horizon(p) return p.window, p.window end
local function Cut(p, t) return State(t, t, 0, 0, p.limit) end

-- So many tokens, or as many as may be held; parts is below 2 * window.
local function Hold(p, tokens, parts)
  if parts >= p.window then tokens, parts = tokens + 1, parts - p.window end
  if p.capped == 1 and tokens >= p.burst then return p.burst, 0 end
  return tokens, parts
end

-- The window at t, with the tokens that have arrived. A reading from before
-- the last charge counts as made then.
local function Open(p, s, t)
  if s.used == 0 or t >= s.start + p.window then return Fresh(p, t) end
  if t <= s.at then return s end
  local more, parts = MulDiv(p.limit - p.burst, t - s.at, p.window)
  local tokens
  tokens, parts = Hold(p, s.tokens + more, s.parts + parts)
  return State(s.start, t, tokens, parts, s.used)
end

local function Admits(p, s, t, cost)
  local n = Open(p, s, t)
  return cost <= math.min(n.tokens, p.limit - n.used)
end

local function Charge(p, s, t, cost)
  local n = Open(p, s, t)
  return State(n.start, n.at, n.tokens - cost, n.parts, n.used + cost)
end

local function Refund(p, s, t, n)
  local r = Open(p, s, t)
  if r.used <= n then return Fresh(p, t) end
  local tokens, parts = Hold(p, r.tokens + n, r.parts)
  return State(r.start, r.at, tokens, parts, r.used - n)
end

local function FreshAt(p, s, t)
  local n = Open(p, s, t)
  if n.used > 0 then return n.start + p.window end
  return t
end

-- An open window keeps its start (or, if the new length would have ended it,
-- opens anew), what was used, and what is missing from a full bucket; a part
-- of a token counts as missing.
local function Carry(old, p, s, t)
  local n = Open(old, s, t)
  if n.used == 0 then return Fresh(p, t) end
  local missing = old.burst - n.tokens
  local start = n.start
  if n.at >= start + p.window then start = n.at end
  local tokens, parts = Hold(p, p.burst - missing, 0)
  return State(start, n.at, tokens, parts, n.used)
end

return WordView({kBytes = kBytes, Load = Load, Save = Save, Params = Params,
                 Fresh = Fresh, FreshAt = FreshAt, StoredTime = StoredTime,
                 Horizon = Horizon, Cut = Cut, Admits = Admits,
                 Charge = Charge, Refund = Refund, Carry = Carry}), Step, Params
