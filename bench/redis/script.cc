#include "bench/redis/script.h"

#include <hiredis/hiredis.h>

#include <cstdio>
#include <deque>
#include <string>
#include <vector>

namespace weir::bench {

redis::Script LoadScript(int port) {
  KeyOf(0);
  return LoadText(port, R"(
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local at = tonumber(redis.call('GET', KEYS[1]) or 0)
if at < now then at = now end
redis.call('SET', KEYS[1], at + tonumber(ARGV[1]), 'PX', 60000)
return at
)");
}

redis::Script LoadText(int port, const std::string& text) {
  struct Kept {
    std::string text, sha1;
  };
  static auto* const all = new std::deque<Kept>;
  Kept& kept = all->emplace_back(Kept{text, ""});
  redisContext* context = redisConnect("127.0.0.1", port);
  if (context != nullptr && context->err == 0) {
    auto* reply = static_cast<redisReply*>(
        redisCommand(context, "SCRIPT LOAD %b", text.data(), text.size()));
    if (reply != nullptr && reply->type == REDIS_REPLY_STRING) {
      kept.sha1.assign(reply->str, reply->len);
    }
    if (reply != nullptr) freeReplyObject(reply);
  }
  if (context != nullptr) redisFree(context);
  return {"bench", kept.text, kept.sha1};
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
