-- What nearly every call of one gcra rule is: a check or a reservation of a
-- key that is missing, or was written under the same limit and by a clock that
-- did not jump. The steps of run.lua without a function or a table; whatever
-- else it is goes on below.
if ARGV[1] ~= '' then
  local key, record = KEYS[1], ARGV[1]
  local op, flags, given, n, c_us, c_ticks, most, limit, burst_ticks, back,
    ahead = unpack('<BBddddddddd', ARGV[2])
  if op == kCheck and flags <= kTimeGiven and n > 0 then
    local slack = kCallersSlack
    if flags == 0 then
      local time = call('TIME')
      now, slack = time[1] * 1000000 + time[2], kSlack
    else
      now = given
    end
    local tat, ticks, same = now, 0, true
    local value = call('GET', key)
    if value then
      same = string.sub(value, 14) == record
      if same then tat, ticks = unpack('<dI5', value) end
    end
    if same and tat - back < now + ahead then
      if tat < now then tat, ticks = now, 0 end
      tat, ticks = tat + c_us, ticks + c_ticks
      if ticks >= limit then tat, ticks = tat + 1, ticks - limit end
      local after = tat - now
      if after < most or (after == most and ticks <= burst_ticks) then
        value = pack('<dI5c0', tat, ticks, record)
        call('PSETEX', key, (after - after % 1000) / 1000 + slack + 1, value)
        return pack('<dBc0', now, 1, value)
      end
      if value then return pack('<dBc0', now, 0, value) end
    end
  end
end
