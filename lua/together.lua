-- What nearly every call of several rules is: usual.lua for each of them, all
-- verdicts before the first write. An engine's code is entered only where a
-- rule names it.
do
  local count = #KEYS
  local kinds = ARGV[2 * count + 1]
  local op, flags, given, n = unpack('<BBdd', ARGV[2])
  if op == kCheck then
    local slack = kCallersSlack
    if flags % 2 == kTimeGiven then
      now = given
    else
      local time = call('TIME')
      now, slack = time[1] * 1000000 + time[2], kSlack
    end
    local rules, allowed, known = {}, true, true
    for i = 1, count do
      local key, record, step = KEYS[i], ARGV[2 * i - 1], ARGV[2 * i]
      op, flags, given, n = unpack('<BBdd', step)
      local counts, kind = flags % 8 >= kCountDenied, string.byte(kinds, i)
      local fits, state, bytes, value, after
      local inside, newest, missing, drop, at, push
      if flags >= kDenyAll or n <= 0 then kind = 0 end -- not usual
      --[[checks]]
      if fits == nil then
        known = false
        break
      end
      allowed = allowed and (fits or flags % 4 >= kObserve)
      rules[i] = {fits, counts, state, bytes, value, after, missing, drop, at,
                  push, inside, newest, n}
    end
    if known and not allowed then
      for i = 1, count do
        -- A log that counts what another rule denied says when it would pass.
        if rules[i][2] and rules[i][8] then known = false end
      end
    end
    if known then
      local reply = pack('<d', now)
      for i = 1, count do
        local key, record, rule = KEYS[i], ARGV[2 * i - 1], rules[i]
        local kind = string.byte(kinds, i)
        local fits, state, inside = rule[1], rule[3], rule[11]
        if (allowed and fits) or rule[2] then
          local value, after = rule[5], rule[6]
          local missing, drop, at, push = rule[7], rule[8], rule[9], rule[10]
          local life = format('%d', after / 1000 + slack + 1)
          state = inside and pack('<ddd', inside + rule[13], at, 0) or value
          --[[charges]]
        end
        state = state or pack('<ddd', inside, rule[12], 0)
        reply = reply .. (fits and '\1' or '\0') ..
                string.sub(state, 1, rule[4])
      end
      return reply
    end
  end
end
