// Every algorithm once, as `weir list --algorithm NAME` writes it.
#include <chrono>
#include <iostream>

#include "weir/limiter.h"
#include "weir/memory_store.h"

using namespace std::chrono_literals;

int main() {
  auto store = weir::MemoryStore::Create();
  const weir::Limit limits[] = {
      weir::Limit::Gcra(100, 1s).Burst(20),
      weir::Limit::TokenBucket(20, 100, 1s),
      weir::Limit::LeakyBucket(20, 100, 1s),
      weir::Limit::Uniform(250ms),
      weir::Limit::FixedWindow(1000, 1h).Align("epoch"),
      weir::Limit::SlidingLog(5, 1min),
      weir::Limit::SlidingLogList(5, 1min),
      weir::Limit::BucketedWindow(5000, 1h, 1min),
      weir::Limit::SlidingWindowCounter(1000, 1h),
      weir::Limit::WindowedTokenBucket(1000, 1h, 50),
      weir::Limit::Ar1(100, 2, 10s),
      weir::Limit::Unlimited(),
  };
  for (const weir::Limit& limit : limits) {
    auto limiter = weir::Limiter::Create(*store, limit);
    if (!limiter.ok()) {
      std::cerr << limiter.status() << "\n";
      return 1;
    }
    auto d = limiter->Check("user:42");
    if (!d.ok() || !d->allowed) return 1;
    std::cout << limit.algorithm() << ": " << d->remaining << " left\n";
  }
}
