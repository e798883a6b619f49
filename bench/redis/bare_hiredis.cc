#include <hiredis/hiredis.h>

#include <string>

#include "bench/redis/runs.h"
#include "bench/redis/samples.h"
#include "bench/redis/script.h"

namespace weir::bench {

Speed RunBareHiredis(const Target& target) {
  redisContext* context = redisConnect("127.0.0.1", target.port);
  if (context == nullptr || context->err != 0) return {};
  Samples samples;
  const auto start = Steady::now();
  const auto end = start + target.time;
  uint64_t n = 0;
  for (auto before = start; before < end;) {
    const std::string& key = KeyOf(n++);
    const std::string sha1(target.script.sha1);
    const char* words[] = {"EVALSHA", sha1.c_str(), "1", key.c_str(), "1"};
    const size_t sizes[] = {7, sha1.size(), 1, key.size(), 1};
    auto* reply =
        static_cast<redisReply*>(redisCommandArgv(context, 5, words, sizes));
    if (reply == nullptr || reply->type != REDIS_REPLY_INTEGER) return {};
    freeReplyObject(reply);
    const auto after = Steady::now();
    samples.Add(after - before);
    before = after;
  }
  redisFree(context);
  return samples.Take(Steady::now() - start);
}

}  // namespace weir::bench
