-- A check of one fixed_window rule whose key is missing, or was written under
-- the same limit and by a clock that did not jump: see gcra_check.lua.
if ARGV[1] ~= '' then
  local key, record = KEYS[1], ARGV[1]
  local op, flags, given, n, limit, window, epoch, offset =
    unpack('<BBdddddd', ARGV[2])
  if op == kCheck and flags <= kTimeGiven and n > 0 then
    local slack = kCallersSlack
    if flags == 0 then
      local time = call('TIME')
      now, slack = time[1] * 1000000 + time[2], kSlack
    else
      now = given
    end
    local start, used, same = nil, 0, true
    local value = call('GET', key)
    if value then
      same = string.sub(value, 17) == record
      if same then start, used = unpack('<dd', value) end
    end
    if same and
       not (start and start - window > now + window) then
      if not start or now >= start + window then
        start, used = now, 0
        if epoch == 1 then
          start = math.floor((now - offset) / window) * window + offset
        end
      end
      if used <= limit - n then
        value = pack('<ddc0', start, used + n, record)
        local after = start + window - now
        call('PSETEX', key, (after - after % 1000) / 1000 + slack + 1, value)
        return pack('<dBc0', now, 1, value)
      end
      if value then return pack('<dBc0', now, 0, value) end
    end
  end
end
