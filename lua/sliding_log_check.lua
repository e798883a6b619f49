-- A check of a sliding_log rule: see usual.lua. The steps are those of
-- log_view.lua. An entry without its time (short of 21 bytes) goes on below.
-- Fields: limit, keep
-- The record and the oldest entries.
local few = call('ZRANGE', key, '0', '7')
local last = few[8] and call('ZRANGE', key, '-1', '-1')[1] or few[#few]
local sum = 0
bytes = 24
if n > limit then
  last = nil -- below
elseif not last then
  fits, missing, drop, inside, newest, at = true, true, 0, 0, 0, now
elseif few[2] and #last == 21 and few[1] == '\255' .. record then
  local cost, time
  sum, cost, newest = unpack('>I7I7i7', last)
  at = now > newest and now or newest
  local gone, oldest = at - keep, few[2]
  if newest - keep > now + keep or sum > kMaxExact - n then
    last = nil -- below
  elseif newest <= gone then
    -- Nothing is inside: the sums begin again.
    fits, missing, drop, inside, sum = true, true, -1, 0, 0
  elseif #oldest == 21 then
    local before
    before, cost, time = unpack('>I7I7i7', oldest)
    drop = 0
    while time and time <= gone do
      drop, time = drop + 1, nil
      oldest = few[drop + 2]
      if not oldest then
        drop = call('ZCOUNT', key, '(-inf', gone)
        oldest = call('ZRANGE', key, drop + 1, drop + 1)[1]
        if drop > 32 then drop = 32 end
      end
      if #oldest == 21 then before, cost, time = unpack('>I7I7i7', oldest) end
    end
    inside = sum - before + cost
    if time and inside <= limit - n then
      fits = true
    elseif time and inside - limit + n <= cost then
      fits, state = false, pack('<ddd', inside, newest, time)
    end
  end
end
if fits then
  value, after = pack('>I7I7i7', sum + n, n, at), at + keep - now
end
