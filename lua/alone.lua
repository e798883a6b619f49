-- What nearly every call of one rule is: a check of a key that is missing, or
-- was written under the same limit and by a clock that did not jump. Decided
-- without a table, and for one key without a function, which cost as much as the
-- commands; whatever else it is goes on below.
do
  local record, step = ARGV[1], ARGV[2]
  local op, flags, given, n = unpack('<BBdd', step)
  if op == kCheck and flags < kDenyAll and n > 0 then
    local counts, slack = flags >= kCountDenied, kCallersSlack
    if flags % 2 == kTimeGiven then
      now = given
    else
      local time = call('TIME')
      now, slack = time[1] * 1000000 + time[2], kSlack
    end
    if Each then
      Usual = function(key)
        --[[usual]]
      end
      if Each(Usual) then return replies end
    else
      local key = KEYS[1]
      --[[usual]]
    end
  end
end
