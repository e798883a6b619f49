-- A check of one sliding_window_counter rule whose key is missing, or was
-- written under the same limit and by a clock that did not jump: see
-- gcra_check.lua.
if ARGV[1] ~= '' then
  local key, record = KEYS[1], ARGV[1]
  local op, flags, given, n, limit, window = unpack('<BBdddd', ARGV[2])
  if op == kCheck and flags <= kTimeGiven and n > 0 then
    local slack = kCallersSlack
    if flags == 0 then
      local time = call('TIME')
      now, slack = time[1] * 1000000 + time[2], kSlack
    else
      now = given
    end
    local number = math.floor(now / window)
    local last, previous, current, same = number, 0, 0, true
    local value = call('GET', key)
    if value then
      same = string.sub(value, 25) == record
      if same then
        last, previous, current = unpack('<ddd', value)
      end
    end
    if same and
       (last - 2) * window <= now + 2 * window then
      local covered = window
      if number > last then
        if number > last + 1 then current = 0 end
        previous, current = current, 0
      else
        number = last
      end
      local start = number * window
      if now > start then covered = window - (now - start) end
      local room = limit - n - current
      local left, right = previous * covered, room * window
      if left <= kMaxExact or right <= kMaxExact then
        if left <= right then
          value = pack('<dddc0', number, previous, current + n,
                       record)
          local after = start + 2 * window - now
          call('PSETEX', key, (after - after % 1000) / 1000 + slack + 1, value)
          return pack('<dBc0', now, 1, value)
        end
        if value then return pack('<dBc0', now, 0, value) end
      end
    end
  end
end
