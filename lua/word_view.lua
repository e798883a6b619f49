-- One key of an engine whose state is a small string: WordView of
-- core/include/weir/word_view.h. The value is the state, as the engine's Save
-- makes it, and the record.
--
-- A view: key, p (the limit that is asked), t, s (the state), present, cut.
local function WordView(E)
  -- The bytes of the record, or nil.
  local function RecordOf(key)
    local value = call('GET', key)
    return value and string.sub(value, E.kBytes + 1)
  end

  local function Open(key, p, t, slack)
    local v = {key = key, p = p, t = t, slack = slack, s = false, cut = false,
               present = false}
    local value = call('GET', key)
    if not value then
      v.s = E.Fresh(p, t)
      return v
    end
    CheckVersion(key, #value > E.kBytes and value or '')
    v.present = true
    local s = E.Load(value, 1)
    local record = string.sub(value, E.kBytes + 1)
    local was = p
    if record ~= p.record then was = E.Params(record) end
    -- In two parts: a difference of two times may pass 2^53.
    local back, ahead = E.Horizon(was)
    if E.StoredTime(was, s) - back > t + ahead then
      s = E.Cut(p, t)
      v.cut = true
    elseif was ~= p then
      s = E.Carry(was, p, s, t)
    end
    v.s = s
    return v
  end

  local function ResetAfter(v)
    return math.max(0, E.FreshAt(v.p, v.s, v.t) - v.t)
  end

  local function Store(v)
    local after = ResetAfter(v)
    if after == 0 then
      call('DEL', v.key)
      return
    end
    call('SET', v.key, E.Save(v.s) .. v.p.record,
         'PX', LifeOf(after, v.slack))
  end

  local function Admits(v, cost) return E.Admits(v.p, v.s, v.t, cost) end

  local function Charge(v, cost)
    v.s = E.Charge(v.p, v.s, v.t, cost)
    Store(v)
  end

  local function Refund(v, n)
    if not v.present or n == 0 or ResetAfter(v) == 0 then return end
    v.s = E.Refund(v.p, v.s, v.t, n)
    Store(v)
  end

  local function Settle(v)
    if v.cut then Store(v) end
  end

  local function Reply(v) return E.Save(v.s) end

  return {RecordOf = RecordOf, Open = Open, Admits = Admits, Charge = Charge,
          Refund = Refund, Settle = Settle, Reply = Reply}
end
