-- A check of one rule that keeps its log in a list, where the key is missing,
-- or was written under the same limit and by a clock that did not jump, and few
-- entries have left: see gcra_check.lua. The steps are those of log_view.lua.
if ARGV[1] ~= '' then
  local key, record = KEYS[1], ARGV[1]
  local op, flags, given, n, limit, keep, resolution =
    unpack('<BBddddd', ARGV[2])
  local counts = flags >= kCountDenied
  if op == kCheck and (flags % 4) <= kTimeGiven and flags < kDenyAll and
     n > 0 and n <= limit then
    local slack = kCallersSlack
    if flags % 2 == 0 then
      local time = call('TIME')
      now, slack = time[1] * 1000000 + time[2], kSlack
    else
      now = given
    end
    local head = '\255' .. record
    -- The oldest entries and the record.
    local few = call('LRANGE', key, -5, -1)
    local held = #few
    if held == 0 then
      local date = now
      if resolution > 0 then
        date = math.floor(now / resolution) * resolution
      end
      local entry = n == 1 and pack('>i7I7', date, 1) or
                    pack('>i7I7I7', date, n, n)
      call('RPUSH', key, entry, head)
      call('PEXPIRE', key, math.ceil((date + keep - now) / 1000) + slack)
      return pack('<dBddd', now, 1, n, date, 0)
    end
    if few[held] == head then
      local last = held > 4 and call('LINDEX', key, 0) or few[1]
      local newest, sum = unpack('>i7I7', last)
      local at = math.max(now, newest)
      local gone, rank = at - keep, held - 1
      while rank > 0 and unpack('>i7', few[rank]) <= gone do rank = rank - 1 end
      if rank > 0 and newest - keep <= now + keep and sum <= kMaxExact - n then
        local oldest = few[rank]
        local time, before = unpack('>i7I7', oldest)
        local cost = 1
        if #oldest > 14 then cost = unpack('>I7', oldest, 15) end
        local used = sum - before + cost
        if used <= limit - n then
          local drop = held - 1 - rank
          if drop > 0 then
            call('LTRIM', key, 0, -2 - drop)
            call('RPUSH', key, head)
          end
          local own, date, push = n, at, true
          if resolution > 0 then
            date = math.floor(at / resolution) * resolution
            if newest == date then
              push, own = false, n + 1
              if #last > 14 then own = n + unpack('>I7', last, 15) end
            end
          end
          local entry = own == 1 and pack('>i7I7', date, sum + n) or
                        pack('>i7I7I7', date, sum + n, own)
          if push then
            call('LPUSH', key, entry)
          else
            call('LSET', key, 0, entry)
          end
          call('PEXPIRE', key, math.ceil((date + keep - now) / 1000) + slack)
          return pack('<dBddd', now, 1, used + n, date, 0)
        end
        if not counts and used - limit + n <= cost then
          return pack('<dBddd', now, 0, used, newest, time)
        end
      end
    end
  end
end
