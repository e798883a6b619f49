// An algorithm of one's own: registered, used in code, and described.
#include <chrono>
#include <iostream>

#include "quiet_time.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"
#include "weir/registry.h"

using namespace std::chrono_literals;

int main() {
  // Once, and kept as long as its limiters.
  weir::Registry registry = weir::Registry::BuiltIn();
  if (!registry.Add(weir::kEngine<QuietTime>).ok()) return 1;

  weir::LimiterOptions options;
  options.registry = &registry;
  auto limiter = weir::Limiter::Create(*weir::MemoryStore::Create(),
                                       weir::Limit::Of("quiet_time")
                                           .With("limit", int64_t{5})
                                           .With("pause", weir::Micros(10min)),
                                       options);
  if (!limiter.ok()) {
    std::cerr << limiter.status() << "\n";
    return 1;
  }
  for (int attempt = 1; attempt <= 6; ++attempt) {
    auto d = limiter->Check("alice");
    if (!d.ok()) return 1;
    std::cout << "attempt " << attempt << ": "
              << (d->allowed ? "allowed" : "denied") << ", " << d->remaining
              << " left\n";
  }
}
