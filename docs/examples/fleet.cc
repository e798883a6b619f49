// One limit for a fleet of 20, and what holds while Redis is away.
#include <chrono>
#include <iostream>

#include "weir/limiter.h"
#include "weir/memory_store.h"
#include "weir/redis_store.h"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  weir::RedisStoreOptions options;
  options.timeout = 50ms;
  auto store = weir::RedisStore::Create(
      argc > 1 ? argv[1] : "redis://127.0.0.1:6379", options);
  if (!store.ok()) {
    std::cerr << store.status() << "\n";
    return 1;
  }
  weir::LimiterOptions policy;
  policy.outage = weir::OutagePolicy::Local(*weir::MemoryStore::Create(), 20);
  auto limiter =
      weir::Limiter::Create(*store, weir::Limit::Gcra(1000, 1s), policy);
  if (!limiter.ok()) {
    std::cerr << limiter.status() << "\n";
    return 1;
  }
  auto d = limiter->Check("user:42");
  if (!d.ok()) {
    std::cerr << d.status() << "\n";
    return 1;
  }
  std::cout << (d->allowed ? "allowed" : "denied")
            << (d->source == weir::Source::kPolicy ? " by this process alone"
                                                   : " by Redis")
            << ", " << d->remaining << " left\n";
}
