-- A check of a sliding_window_counter rule: see usual.lua. Products that pass
-- 2^53 are left to ProductAtMost, below.
-- Fields: limit, window
local number = math.floor(now / window)
local last, previous, current, same = number, 0, 0, true
state, bytes = call('GET', key), 24
if state then
  same = string.sub(state, 25) == record
  if same then last, previous, current = unpack('<ddd', state) end
else
  state = pack('<ddd', number, 0, 0)
end
if same and (last - 2) * window <= now + 2 * window then
  local covered = window
  if number > last then
    if number > last + 1 then current = 0 end
    previous, current = current, 0
  else
    number = last
  end
  local start = number * window
  if now > start then covered = window - (now - start) end
  local left, right = previous * covered, (limit - n - current) * window
  if left <= kMaxExact or right <= kMaxExact then
    fits = left <= right
    if fits then
      value = pack('<dddc0', number, previous, current + n, record)
      after = start + 2 * window - now
    end
  end
end
