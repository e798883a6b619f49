-- A record says under which parameters a state was written: what the engine's
-- header writes, and the version as its last byte. Whole numbers are in base
-- 128, lowest digit first, 128 added to all digits but the last.

-- The whole numbers from the byte `at` on.
local function ReadNumbers(bytes, at)
  local numbers, value, scale = {}, 0, 1
  for i = at, #bytes do
    local digit = string.byte(bytes, i)
    if digit < 128 then
      numbers[#numbers + 1] = value + digit * scale
      value, scale = 0, 1
    else
      value = value + (digit - 128) * scale
      scale = scale * 128
    end
  end
  return numbers
end

-- `bytes` end with the version.
local function CheckVersion(key, bytes)
  if string.byte(bytes, -1) == kVersion then return end
  error('WEIRSTATE ' .. key .. ' does not hold a state that this version of ' ..
        'weir can read', 0)
end

-- What remains to live for a key that equals a fresh one in `after` us.
local function LifeOf(after, slack)
  return math.max(0, math.ceil(after / 1000)) + slack
end
