-- A check of a windowed_token_bucket rule: see usual.lua. A product that passes
-- 2^53 is left to MulDiv, below.
-- Fields: limit, window, burst, capped
local start, at, tokens, parts, used = now, now, 0, 0, 0
local same = true
state, bytes = call('GET', key), 40
if state then
  same = string.sub(state, 41) == record
  if same then start, at, tokens, parts, used = unpack('<ddddd', state) end
else
  state = pack('<ddddd', now, now, burst, 0, 0)
end
local product = (limit - burst) * (now - at)
if same and at - window <= now + window and product <= kMaxExact then
  if used == 0 or now >= start + window then
    start, at, tokens, parts, used = now, now, burst, 0, 0
  elseif now > at then
    local more = math.floor(product / window)
    at, tokens, parts = now, tokens + more, parts + product - more * window
    if parts >= window then tokens, parts = tokens + 1, parts - window end
    if capped == 1 and tokens >= burst then tokens, parts = burst, 0 end
  end
  fits = n <= tokens and n <= limit - used
  if fits then
    value = pack('<dddddc0', start, at, tokens - n, parts, used + n, record)
    after = start + window - now
  end
end
