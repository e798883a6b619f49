-- A batch: one rule asked of several keys, each on its own, in their order. An
-- error at a key is the reply of that key, and of no other.

-- Of a batch alone: its replies; what goes through its keys; and what decides
-- one in the usual case, if the engine has such (alone.lua).
local replies, Each, Usual

if #KEYS > 1 and #ARGV == 2 then
  replies = {}
  local i = 1

  local function Go(Decide)
    while i <= #KEYS do
      local reply = Decide(KEYS[i], i)
      if not reply then return end
      replies[i] = reply
      i = i + 1
    end
  end

  -- Decides the keys that are left, up to one that `Decide` has no reply for.
  -- Returns whether all have theirs.
  Each = function(Decide)
    while true do
      local ok, problem = pcall(Go, Decide)
      if ok then return i > #KEYS end
      -- As the server words what ends a script: ERR, if it has no code.
      local words = type(problem) == 'table' and problem.err or
                    tostring(problem)
      if not string.find(words, '^%u+ ') then words = 'ERR ' .. words end
      replies[i] = {err = words}
      i = i + 1
    end
  end
end
