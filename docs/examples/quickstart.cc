#include <chrono>
#include <iostream>

#include "weir/limiter.h"
#include "weir/memory_store.h"

using namespace std::chrono_literals;

int main() {
  auto store = weir::MemoryStore::Create();
  auto limiter = weir::Limiter::Create(*store, weir::Limit::Gcra(100, 1s));
  for (int call = 0; call < 102; ++call) {
    absl::StatusOr<weir::Decision> d = limiter->Check("user:42");
    if (!d.ok()) return 1;  // not decided: the store is full
    if (d->allowed) continue;
    std::cout << "retry in " << d->retry_after->count() << "us\n";
  }
}
