#include <hiredis/hiredis.h>

#include <string>

#include "bench/redis/runs.h"
#include "bench/redis/samples.h"
#include "bench/redis/script.h"

namespace weir::bench {

Speed RunBareHiredis(const Target& target) {
  redisContext* context = redisConnect("127.0.0.1", target.port);
  if (context == nullptr || context->err != 0) return {};
  const std::string sha1(target.script.sha1);
  const Speed speed = TimeEach(target.time, [&](uint64_t n) {
    const std::string& key = KeyOf(n);
    const char* words[] = {"EVALSHA", sha1.c_str(), "1", key.c_str(), "1"};
    const size_t sizes[] = {7, sha1.size(), 1, key.size(), 1};
    auto* reply =
        static_cast<redisReply*>(redisCommandArgv(context, 5, words, sizes));
    const bool good = reply != nullptr && reply->type == REDIS_REPLY_INTEGER;
    freeReplyObject(reply);
    return good;
  });
  redisFree(context);
  return speed;
}

}  // namespace weir::bench
