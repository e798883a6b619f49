-- A check of a rule that keeps its log in a list: see usual.lua. The steps are
-- those of log_view.lua. Where more than a few entries have left, it goes on
-- below.
-- Fields: limit, keep, resolution
-- The oldest entries and the record.
local few = call('LRANGE', key, '-8', '-1')
local held, sum, own = #few, 0, n
drop, at, push, bytes = 0, now, true, 24
if n > limit then
  held = 0 -- below
elseif held == 0 then
  fits, missing, inside, newest = true, true, 0, 0
elseif held > 1 and few[held] == '\255' .. record then
  local last = held > 7 and call('LINDEX', key, '0') or few[1]
  newest, sum = unpack('>i7I7', last)
  if newest > now then at = newest end
  local gone, rank = at - keep, held - 1
  while rank > 0 and unpack('>i7', few[rank]) <= gone do rank = rank - 1 end
  if newest - keep > now + keep or sum > kMaxExact - n then
    held = 0 -- below
  elseif newest <= gone then
    -- Nothing is inside: the sums begin again.
    fits, missing, drop, sum, inside = true, true, -1, 0, 0
  elseif rank > 0 then
    local oldest, cost = few[rank], 1
    local time, before = unpack('>i7I7', oldest)
    if #oldest > 14 then cost = unpack('>I7', oldest, 15) end
    inside, drop = sum - before + cost, held - 1 - rank
    -- As MayWait of log_view.lua.
    if drop < 3 and resolution == 0 and inside + n + drop <= limit then
      drop = 0
    end
    if inside <= limit - n then
      fits = true
      if resolution > 0 and
         newest == math.floor(at / resolution) * resolution then
        push, own = false, n + 1
        if #last > 14 then own = n + unpack('>I7', last, 15) end
      end
    elseif not counts and inside - limit + n <= cost then
      fits, state = false, pack('<ddd', inside, newest, time)
    end
  end
end
if fits then
  if resolution > 0 then at = math.floor(at / resolution) * resolution end
  value = own == 1 and pack('>i7I7', at, sum + n) or
          pack('>i7I7I7', at, sum + n, own)
  after = at + keep - now
end
