-- A check of one sliding_log rule whose key is missing, or was written under
-- the same limit and by a clock that did not jump: see gcra_check.lua. The
-- steps are those of log_view.lua.
if ARGV[1] ~= '' then
  local key, record = KEYS[1], ARGV[1]
  local op, flags, given, n, limit, keep = unpack('<BBdddd', ARGV[2])
  if op == kCheck and flags <= kTimeGiven and n > 0 and n <= limit then
    local slack = kCallersSlack
    if flags == 0 then
      local time = call('TIME')
      now, slack = time[1] * 1000000 + time[2], kSlack
    else
      now = given
    end
    local head = '\255' .. record
    local member = n == 1 and '' or pack('>I7', n)
    local first = call('ZRANGE', key, 0, 1, 'WITHSCORES')
    if not first[1] then
      call('ZADD', key, '-inf', head, now, pack('>I7', n) .. member)
      call('PEXPIRE', key, math.ceil(keep / 1000) + slack)
      return pack('<dBddd', now, 1, n, now, 0)
    end
    local last = call('ZRANGE', key, -1, -1, 'WITHSCORES')
    local newest = tonumber(last[2])
    if first[1] == head and newest - keep <= now + keep then
      local at = math.max(now, newest)
      local gone = at - keep
      local oldest, time, expired = first[3], tonumber(first[4]), 0
      if time <= gone and newest > gone then
        expired = call('ZCOUNT', key, '(-inf', gone)
        first = call('ZRANGE', key, expired + 1, expired + 1, 'WITHSCORES')
        oldest, time = first[1], tonumber(first[2])
      end
      local sum = unpack('>I7', last[1])
      local before, cost = unpack('>I7', oldest), 1
      if #oldest > 7 then cost = unpack('>I7', oldest, 8) end
      local used = sum - before + cost
      if time > gone and sum <= kMaxExact - n then
        if used <= limit - n then
          if expired > 0 then
            call('ZREMRANGEBYRANK', key, 1, math.min(expired, 32))
          end
          call('ZADD', key, at, pack('>I7', sum + n) .. member)
          call('PEXPIRE', key, math.ceil((at + keep - now) / 1000) + slack)
          return pack('<dBddd', now, 1, used + n, at, 0)
        end
        if used - limit + n <= cost then
          return pack('<dBddd', now, 0, used, newest, time)
        end
      end
    end
  end
end
