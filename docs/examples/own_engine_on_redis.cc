// An algorithm of one's own on Redis: header and script.
//
//   example_own_engine_on_redis redis://127.0.0.1:6379
#include <chrono>
#include <iostream>

#include "quiet_time.h"
#include "quiet_time.lua.h"  // weir_embed_script(... quiet_time.lua)
#include "weir/limiter.h"
#include "weir/redis_store.h"
#include "weir/registry.h"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  weir::Registry registry = weir::Registry::BuiltIn();
  if (!registry.Add(weir::kEngine<QuietTime>).ok()) return 1;

  weir::RedisStoreOptions scripts;
  scripts.engines = {{"quiet_time", kQuietTimeLua}};
  auto store = weir::RedisStore::Create(
      argc > 1 ? argv[1] : "redis://127.0.0.1:6379", scripts);
  if (!store.ok()) {
    std::cerr << store.status() << "\n";
    return 1;
  }

  weir::LimiterOptions options;
  options.registry = &registry;
  auto limiter = weir::Limiter::Create(*store,
                                       weir::Limit::Of("quiet_time")
                                           .With("limit", int64_t{5})
                                           .With("pause", weir::Micros(10min)),
                                       options);
  if (!limiter.ok()) {
    std::cerr << limiter.status() << "\n";
    return 1;
  }
  auto d = limiter->Check("alice");
  if (!d.ok()) {
    std::cerr << d.status() << "\n";
    return 2;
  }
  std::cout << (d->allowed ? "allowed" : "denied") << ", " << d->remaining
            << " left\n";
}
