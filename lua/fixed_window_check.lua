-- A check of a fixed_window rule: see usual.lua.
-- Fields: limit, window, epoch, offset
local start, used, same = nil, 0, true
state, bytes = call('GET', key), 16
if state then
  same = string.sub(state, 17) == record
  if same then start, used = unpack('<dd', state) end
end
if same and not (start and start - window > now + window) then
  if not start or now >= start + window then
    start, used = now, 0
    if epoch == 1 then
      local into = math.fmod(now, window) - offset
      while into < 0 do into = into + window end
      start = now - into
    end
  end
  if not state then state = pack('<dd', start, 0) end
  fits = used <= limit - n
  if fits then
    value = pack('<ddc0', start, used + n, record)
    after = start + window - now
  end
end
