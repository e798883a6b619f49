#include "bench/redis/usual_scripts.h"

namespace weir::bench {
namespace {

// One time in seconds as a decimal fraction; four values in the reply.
constexpr char kGcra[] = R"(
local burst, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local period, cost = tonumber(ARGV[3]), tonumber(ARGV[4])
local interval = period / rate
local time = redis.call('TIME')
local now = (time[1] - 1700000000) + time[2] / 1000000
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local next_arrival = arrival + interval * cost
local ahead = now - (next_arrival - interval * burst)
if ahead < 0 then
  return {0, 0, tostring(-ahead), tostring(arrival - now)}
end
local reset_after = next_arrival - now
redis.call('SET', KEYS[1], next_arrival, 'EX', math.ceil(reset_after))
return {cost, math.floor(ahead / interval), '-1', tostring(reset_after)}
)";

constexpr char kTokenBucket[] = R"(
local capacity, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local cost = tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local held = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(held[1]), tonumber(held[2])
if not tokens then
  tokens, at = capacity, now
end
tokens = math.min(capacity, tokens + math.max(0, now - at) * rate)
local allowed = tokens >= cost
if allowed then
  tokens = tokens - cost
end
redis.call('HMSET', KEYS[1], 'tokens', tokens, 'at', now)
redis.call('PEXPIRE', KEYS[1], math.ceil(capacity / rate * 2000))
return {allowed and 1 or 0, math.floor(tokens)}
)";

// An entry for each call, the time as its score.
constexpr char kSortedSetLog[] = R"(
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - window)
local count = redis.call('ZCARD', KEYS[1])
if count >= limit then
  return {0, 0}
end
redis.call('ZADD', KEYS[1], now, time[1] .. time[2] .. ':' .. count)
redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000))
return {1, limit - count - 1}
)";

constexpr char kCounter[] = R"(
local count = redis.call('INCR', KEYS[1])
if count == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return {count, redis.call('PTTL', KEYS[1])}
)";

// Two counters, the earlier one weighed by what is left of its window.
constexpr char kTwoCounters[] = R"(
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slot = math.floor(now / window)
local own = KEYS[1] .. ':' .. slot
local earlier = KEYS[1] .. ':' .. (slot - 1)
local used = tonumber(redis.call('GET', own) or 0)
local before = tonumber(redis.call('GET', earlier) or 0)
local part = 1 - now % window / window
if used + math.floor(before * part) >= limit then
  return {0, 0}
end
used = redis.call('INCR', own)
if used == 1 then
  redis.call('PEXPIRE', own, window * 2)
end
return {1, limit - used}
)";

// A counter for each slot of the window, as the fields of a hash.
constexpr char kSlots[] = R"(
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local width = tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slot = math.floor(now / width)
local slots, sum = redis.call('HGETALL', KEYS[1]), 0
for i = 1, #slots, 2 do
  if tonumber(slots[i]) * width > now - window then
    sum = sum + slots[i + 1]
  else
    redis.call('HDEL', KEYS[1], slots[i])
  end
end
if sum >= limit then
  return {0, 0}
end
redis.call('HINCRBY', KEYS[1], slot, 1)
redis.call('PEXPIRE', KEYS[1], window)
return {1, limit - sum - 1}
)";

}  // namespace

const std::vector<UsualScript>& UsualScripts() {
  static const auto* const scripts = new std::vector<UsualScript>{
      {"usual gcra: GET, SET EX", kGcra, {"1000000", "1000000", "1", "1"}},
      {"usual token bucket: HMGET, HMSET, PEXPIRE",
       kTokenBucket,
       {"1000000", "1000000", "1"}},
      {"usual counter: INCR, PTTL", kCounter, {"1000000", "1000"}},
      {"usual two counters: GET, GET, INCR", kTwoCounters, {"1000000", "1000"}},
      {"usual slots: HGETALL, HINCRBY, PEXPIRE",
       kSlots,
       {"1000000", "1000", "100"}},
      {"usual log: ZREMRANGEBYSCORE, ZCARD, ZADD ...",
       kSortedSetLog,
       {"1000000", "50000"}},
  };
  return *scripts;
}

}  // namespace weir::bench
