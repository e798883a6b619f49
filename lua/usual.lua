-- One key of alone.lua, which holds this twice: the steps of run.lua. Returns the
-- reply, if it knows it.
--
-- The engine's NAME_check.lua gets key, record, flags, n, counts, slack, now and
-- what its line "Fields" names: the doubles in the step after n. It writes
-- nothing; it sets
--
--   fits     whether the rule allows it; nil: it goes on below
--   state    the reply if nothing is charged; of a log if it denies
--   value    the reply if it is charged. `bytes` of either count
--   inside, newest, at
--            of logs alone, of which the reply is made: the costs inside, the
--            newest entry's time, that of the one to be added
--   value, and for logs missing, drop, at, push
--            what its ..._charge.lua writes
--   after    when it would equal a fresh key, in us from now
local fits, state, bytes, value, after
local inside, newest, missing, drop, at, push
--[[check]]
if op == kCheck and (fits or (counts and fits == false)) then
  local life = format('%d', after / 1000 + slack + 1) -- cut to whole ms
  --[[charge]]
  if inside then return pack('<dBddd', now, 1, inside + n, at, 0) end
  return pack('<dBc0', now, fits and 1 or 0, value)
end
if fits and inside then return pack('<dBddd', now, 1, inside, newest, 0) end
if fits ~= nil then return pack('<dBc0', now, fits and 1 or 0, state) end
