-- A check or a reservation of a gcra rule: see usual.lua.
-- Fields: c_us, c_ticks, most, limit, burst_ticks, back, ahead
local tat, ticks, same = now, 0, true
state, bytes = call('GET', key), 13
if state then
  same = string.sub(state, 14) == record
  if same then tat, ticks = unpack('<dI5', state) end
else
  state = pack('<dI5', now, 0)
end
if same and tat - back < now + ahead then
  -- In us from now: where the call is denied, its arrival time may pass 2^53.
  after = c_us
  if tat < now then ticks = 0 else after = tat - now + c_us end
  ticks = ticks + c_ticks
  if ticks >= limit then after, ticks = after + 1, ticks - limit end
  fits = after < most or (after == most and ticks <= burst_ticks)
  if fits then value = pack('<dI5c0', now + after, ticks, record) end
end
