-- Every call: its steps together, all or nothing; those of a batch each on its
-- own. Ends every text.

-- A refund is made in the state's own terms: under the limit that it was
-- written under, so that what is used above a lower limit is not forgotten. A
-- state that is cut is the new limit's own.
local function Refund(step, t, slack)
  local View, key = step.View, step.key
  local record = View.RecordOf(key)
  if not record or step.n == 0 then return end
  local own = step.p
  if not own or record ~= own.record then
    if own then
      View.Settle(View.Open(key, own, t, slack))
      record = View.RecordOf(key)
    end
    own = step.Params(record)
  end
  View.Refund(View.Open(key, own, t, slack), step.n)
end

-- The engines of these calls, each made once. Which rule has which is in the last
-- argument.
local kinds, made = ARGV[2 * #KEYS + 1], {}

local function EngineOf(i)
  local kind = kinds and string.byte(kinds, i) or 1
  local engine = made[kind]
  if not engine then
    local View, Step, Params = engines[kind]()
    engine = {View = View, Step = Step, Params = Params}
    made[kind] = engine
  end
  return engine
end

local function Read(i)
  local record, bytes = ARGV[2 * i - 1], ARGV[2 * i]
  if Each then record, bytes = ARGV[1], ARGV[2] end
  local op, flags, given = unpack('<BBd', bytes)
  local engine = EngineOf(i)
  local p, cost, n
  if flags < kDenyAll then
    p, cost, n = engine.Step(record, bytes)
  else
    n = unpack('<d', bytes, 11)
  end
  return {key = KEYS[i], op = op, given = given, View = engine.View,
          Params = engine.Params, time_given = flags % 2 >= kTimeGiven,
          observe = flags % 4 >= kObserve,
          count_denied = flags % 8 >= kCountDenied, p = p, cost = cost, n = n,
          allowed = false, view = false}
end

-- What a check does to a key once the verdict on the whole call is known.
local function Act(step, allowed)
  if step.n == 0 then return end
  if (allowed and step.allowed) or step.count_denied then
    step.View.Charge(step.view, step.cost)
  else
    step.View.Settle(step.view)
  end
end

-- Decides the steps from the first to the last as one call. Returns its reply.
local function Call(first, last)
  local steps = {}
  for i = first, last do steps[#steps + 1] = Read(i) end

  local op, slack = steps[1].op, kSlack
  if steps[1].time_given then
    now, slack = steps[1].given, kCallersSlack
  elseif not now then
    local time = call('TIME')
    now = time[1] * 1000000 + time[2]
  end

  -- What can't be read is found before the first is written.
  if op == kRefund and #steps > 1 then
    for _, step in ipairs(steps) do
      if step.p then
        step.View.Open(step.key, step.p, now, slack)
      else
        step.View.RecordOf(step.key)
      end
    end
  end

  local allowed = true
  for i, step in ipairs(steps) do
    if op == kReset then call('DEL', step.key) end
    if op == kRefund then Refund(step, now, slack) end
    if step.p then
      step.view = step.View.Open(step.key, step.p, now, slack)
      step.allowed = step.View.Admits(step.view, step.cost)
    end
    allowed = allowed and (step.allowed or step.observe)
  end

  local reply = {pack('<d', now)}
  for i, step in ipairs(steps) do
    reply[#reply + 1] = step.allowed and '\1' or '\0'
    if step.p then
      if op == kCheck then Act(step, allowed) end
      -- A call that passes has no wait, nor has what a refund leaves.
      local waits = not (op == kCheck and allowed and step.allowed)
      reply[#reply + 1] = step.View.Reply(step.view, step.cost, waits)
    end
  end
  return table.concat(reply)
end

if not Each then return Call(1, #KEYS) end
Each(function(key, i) return Usual and Usual(key) or Call(i, i) end)
return replies
