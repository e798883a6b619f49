-- What nearly every call of one gcra rule is: a check or a reservation of a
-- key that is missing, or was written under the same limit and by a clock that
-- did not jump. The steps of Check in run.lua without a function or a table;
-- whatever else it is goes on below.
if ARGV[1] ~= '' then
  local key, record = KEYS[1], ARGV[1]
  local op, flags, given, n, c_us, c_ticks, max_wait, limit, window, burst_us,
    burst_ticks, back, ahead = unpack('<BBddddddddddd', ARGV[2])
  if op == kCheck and flags <= kTimeGiven and n > 0 then
    now = given
    local slack = kCallersSlack
    if flags == 0 then now, slack = ServerTime(), kSlack end
    local version, tat, ticks, same = kVersion, now, 0, true
    local value = call('GET', key)
    if value then
      same = string.sub(value, 15) == record
      if same then version, tat, ticks = unpack('<BdI5', value) end
    end
    if same and version == kVersion and tat - back < now + ahead then
      if tat < now then tat, ticks = now, 0 end
      local us
      us, ticks = tat + c_us, ticks + c_ticks
      if ticks >= limit then us, ticks = us + 1, ticks - limit end
      local after, most = us - now, burst_us + max_wait
      if after < most or (after == most and ticks <= burst_ticks) then
        value = pack('<BdI5', kVersion, us, ticks) .. record
        call('SET', key, value, 'PX', (after - after % 1000) / 1000 + slack + 1)
        return pack('<d', now) .. value
      end
      if value then return pack('<dB', now, 0) .. string.sub(value, 2) end
    end
  end
end
