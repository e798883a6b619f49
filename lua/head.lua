-- Every text begins so. KEYS, ARGV and the reply: lua/README.md.
-- A global takes a search at each use; these are used more than once.
local KEYS, ARGV, string, struct = KEYS, ARGV, string, struct
local call, pack, unpack = redis.call, struct.pack, struct.unpack
-- For what is passed to a command in nearly every call. A number is written
-- with 17 digits there, which takes the server as long as a third of a command.
local format = string.format
local kVersion = 1 -- of the form in which states are stored
local kMaxExact = 9007199254740991 -- 2^53 - 1
-- How long a key stays after it equals a fresh one, in ms: where the server
-- gives the time, and where the caller does.
local kSlack, kCallersSlack = 1000, 3600000

-- The op of a call, and a step's flags.
local kCheck, kPeek, kRefund, kReset = 0, 1, 2, 3
local kTimeGiven, kObserve, kCountDenied, kDenyAll = 1, 2, 4, 8

-- The reading of the clock; nothing yet.
local now
