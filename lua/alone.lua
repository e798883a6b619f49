-- What nearly every call of one rule is: a check or a peek of a key that is
-- missing, or was written under the same limit and by a clock that did not jump.
-- Decided without a table, and for one key without a function, which cost as much
-- as the commands; whatever else it is goes on below.
do
  local record, step = ARGV[1], ARGV[2]
  -- The step of a limit of 0 ends with the cost; others go on with what the
  -- line "Fields" of NAME_check.lua names, and are read in one go.
  if #step > 18 then
    local op, flags, given, n --[[fields]] = unpack('<BBdd--[[d]]', step)
    if op <= kPeek and n > 0 then
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
end
