-- Exact arithmetic, as core/math.h. A Lua number is a double: whole numbers
-- are exact below 2^53, so what can pass that is compared or divided in parts.

-- floor(a * b / c) and the remainder, for whole a, b >= 0 below 2^53 and
-- 0 < c < 2^52. A quotient above 2^53 is rounded, but stays above it.
local function MulDiv(a, b, c)
  local product = a * b
  if product <= kMaxExact then
    local quotient = math.floor(product / c)
    return quotient, product - quotient * c
  end
  -- b = whole * c + part; then a * part / c, one bit of a at a time.
  local whole = math.floor(b / c)
  local part = b - whole * c
  local quotient, rest, bit = 0, 0, 1
  while bit * 2 <= a do bit = bit * 2 end
  local left = a
  while bit >= 1 do
    quotient, rest = quotient * 2, rest * 2
    if rest >= c then quotient, rest = quotient + 1, rest - c end
    if left >= bit then
      left = left - bit
      if rest >= c - part then
        quotient, rest = quotient + 1, rest - (c - part)
      else
        rest = rest + part
      end
    end
    bit = bit / 2
  end
  return a * whole + quotient, rest
end

-- a * b as high * 2^52 + low, for whole a, b >= 0 below 2^52.
local function Mul(a, b)
  local a1, b1 = math.floor(a / 67108864), math.floor(b / 67108864) -- 2^26
  local a0, b0 = a - a1 * 67108864, b - b1 * 67108864
  local low = a0 * b0
  local carry = math.floor(low / 67108864)
  local middle = a1 * b0 + a0 * b1 + carry
  local high = math.floor(middle / 67108864)
  low = low - carry * 67108864 + (middle - high * 67108864) * 67108864
  return a1 * b1 + high, low
end

-- a * b <= c * d, for whole numbers as Mul takes them.
local function ProductAtMost(a, b, c, d)
  local left, right = a * b, c * d
  if left <= kMaxExact or right <= kMaxExact then return left <= right end
  local left_high, left_low = Mul(a, b)
  local right_high, right_low = Mul(c, d)
  if left_high ~= right_high then return left_high < right_high end
  return left_low <= right_low
end
