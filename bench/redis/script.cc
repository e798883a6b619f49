#include "bench/redis/script.h"

#include <hiredis/hiredis.h>

#include <cstdio>
#include <vector>

namespace weir::bench {

redis::Script LoadScript(int port) {
  KeyOf(0);
  static constexpr char kText[] = R"(
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local at = tonumber(redis.call('GET', KEYS[1]) or 0)
if at < now then at = now end
redis.call('SET', KEYS[1], at + tonumber(ARGV[1]), 'PX', 60000)
return at
)";
  static std::string* const sha1 = new std::string;
  redisContext* context = redisConnect("127.0.0.1", port);
  if (context != nullptr && context->err == 0) {
    auto* reply = static_cast<redisReply*>(
        redisCommand(context, "SCRIPT LOAD %s", kText));
    if (reply != nullptr && reply->type == REDIS_REPLY_STRING) {
      sha1->assign(reply->str, reply->len);
    }
    if (reply != nullptr) freeReplyObject(reply);
  }
  if (context != nullptr) redisFree(context);
  return {"bench", kText, *sha1};
}

const std::string& KeyOf(uint64_t n) {
  static const auto* const keys = [] {
    auto* made = new std::vector<std::string>;
    for (int i = 0; i < kKeys; ++i) {
      // As redis-benchmark writes its own.
      char key[32];
      std::snprintf(key, sizeof key, "key:%012d", i);
      made->emplace_back(key);
    }
    return made;
  }();
  return (*keys)[(n * 0x9e3779b97f4a7c15u >> 20) % kKeys];
}

}  // namespace weir::bench
