-- A check of a sliding_log rule: see alone.lua. The steps are those of
-- log_view.lua.
local limit, keep = unpack('<dd', step, 19)
-- The record and the two oldest entries.
local few = call('ZRANGE', key, '0', '2', 'WITHSCORES')
local oldest = few[3]
if n > limit then
  few[1] = ''
elseif not few[1] then
  fits, missing, drop, at = true, true, 0, now
  value = n == 1 and pack('>I7', 1) or pack('>I7I7', n, n)
  state, charged = pack('<ddd', 0, 0, 0), pack('<ddd', n, now, 0)
elseif oldest and few[1] == '\255' .. record then
  local last, newest = oldest, tonumber(few[4])
  local time = newest
  if few[5] then
    local found = call('ZRANGE', key, '-1', '-1', 'WITHSCORES')
    last, newest = found[1], tonumber(found[2])
  end
  at = now > newest and now or newest
  local gone = at - keep
  if newest - keep > now + keep then
    few[1] = '' -- the clock has jumped
  elseif newest <= gone then
    -- Nothing is inside: the sums begin again.
    fits, missing, drop = true, true, -1
    value = n == 1 and pack('>I7', 1) or pack('>I7I7', n, n)
    state, charged = pack('<ddd', 0, newest, 0), pack('<ddd', n, at, 0)
  else
    drop = 0
    if time <= gone then
      -- Mostly it is the oldest one that has left.
      drop, oldest, time = 1, few[5], tonumber(few[6])
      if time <= gone then
        drop = call('ZCOUNT', key, '(-inf', gone)
        few = call('ZRANGE', key, drop + 1, drop + 1, 'WITHSCORES')
        oldest, time = few[1], tonumber(few[2])
        if drop > 32 then drop = 32 end
      end
    end
    local sum = unpack('>I7', last)
    local before, cost = unpack('>I7', oldest), 1
    if #oldest > 7 then cost = unpack('>I7', oldest, 8) end
    local used = sum - before + cost
    if sum <= kMaxExact - n then
      if used <= limit - n then
        fits = true
        value = n == 1 and pack('>I7', sum + 1) or pack('>I7I7', sum + n, n)
        state, charged = pack('<ddd', used, newest, 0),
                         pack('<ddd', used + n, at, 0)
      elseif used - limit + n <= cost then
        fits, state = false, pack('<ddd', used, newest, time)
      end
    end
  end
end
if fits then after = at + keep - now end
bytes = 24
