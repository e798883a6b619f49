-- A check of one windowed_token_bucket rule whose key is missing, or was
-- written under the same limit and by a clock that did not jump: see
-- gcra_check.lua.
if ARGV[1] ~= '' then
  local key, record = KEYS[1], ARGV[1]
  local op, flags, given, n, limit, window, burst, capped =
    unpack('<BBdddddd', ARGV[2])
  if op == kCheck and flags <= kTimeGiven and n > 0 then
    local slack = kCallersSlack
    if flags == 0 then
      local time = call('TIME')
      now, slack = time[1] * 1000000 + time[2], kSlack
    else
      now = given
    end
    local start, at, tokens, parts, used = now, now, 0, 0, 0
    local same = true
    local value = call('GET', key)
    if value then
      same = string.sub(value, 41) == record
      if same then
        start, at, tokens, parts, used = unpack('<ddddd', value)
      end
    end
    local product = (limit - burst) * (now - at)
    if same and at - window <= now + window and
       product <= kMaxExact then
      if used == 0 or now >= start + window then
        start, at, tokens, parts, used = now, now, burst, 0, 0
      elseif now > at then
        local more = math.floor(product / window)
        at, tokens, parts = now, tokens + more, parts + product - more * window
        if parts >= window then tokens, parts = tokens + 1, parts - window end
        if capped == 1 and tokens >= burst then tokens, parts = burst, 0 end
      end
      if n <= tokens and n <= limit - used then
        value = pack('<dddddc0', start, at, tokens - n, parts,
                     used + n, record)
        local after = start + window - now
        call('PSETEX', key, (after - after % 1000) / 1000 + slack + 1, value)
        return pack('<dBc0', now, 1, value)
      end
      if value then return pack('<dBc0', now, 0, value) end
    end
  end
end
