-- A check of an ar1 rule: see usual.lua. How long a value lasts comes from its
-- logarithm; a decay that is too slow for that goes on below.
-- Fields: limit, decay, resolution, longest
local slot = math.floor(now / resolution)
local last, used, same = slot, 0, true
state, bytes = call('GET', key), 16
if state then
  same = string.sub(state, 17) == record
  if same then last, used = unpack('<dd', state) end
else
  state = pack('<dd', slot, 0)
end
local log = math.log(decay)
if same and last > -kMaxExact and
   last * resolution - longest <= now + longest and log > 0.0001 then
  -- decay^left, as Power of ar1.lua.
  local power, base, left = 1, decay, slot - last
  while left > 0 do
    local odd = left % 2
    if odd == 1 then power = power * base end
    base, left = base * base, (left - odd) / 2
  end
  used = used / power
  if used < 1 / 9007199254740992 then used = 0 end
  if slot < last then slot = last end
  fits = used + n <= limit
  if fits or counts then
    used = used + n
    if used > kMaxExact then used = kMaxExact end
    -- Nothing is left after more slots than this.
    local slots = math.log(used * 9007199254740992) / log
    local whole = math.floor(slots)
    -- Too near to a whole number: the powers themselves have to tell.
    if slots - whole < 0.001 or slots - whole > 0.999 then
      whole = math.floor(slots + 0.5)
      power, base, left = 1, decay, whole
      while left > 0 do
        local odd = left % 2
        if odd == 1 then power = power * base end
        base, left = base * base, (left - odd) / 2
      end
      if used / power < 1 / 9007199254740992 then whole = whole - 1 end
    end
    value = pack('<ddc0', slot, used, record)
    after = (slot + whole + 1) * resolution - now
  end
end
