// A resource and its consumers: both limits have room, or neither is charged.
#include <array>
#include <chrono>
#include <iostream>
#include <string_view>

#include "weir/limiter.h"
#include "weir/memory_store.h"

using namespace std::chrono_literals;

int main() {
  auto store = weir::MemoryStore::Create();
  auto limiter = weir::Limiter::Create(
      *store, {{"resource", weir::Limit::SlidingLog(5, 10s)},
               {"consumer", weir::Limit::SlidingLog(3, 10s)}});
  if (!limiter.ok()) {
    std::cerr << limiter.status() << "\n";
    return 1;
  }
  // The keys differ, so the call names the part that they share. On a cluster
  // it decides which node holds them.
  const std::array<std::string_view, 2> keys = {"printer", "printer/alice"};
  weir::Call call;
  call.keys = keys;
  call.tag = "printer";
  for (int i = 0; i < 4; ++i) {
    absl::StatusOr<weir::Decision> d = limiter->Check(call);
    if (!d.ok()) return 1;
    std::cout << (d->allowed ? "allowed" : "denied") << " by "
              << d->rules()[static_cast<size_t>(d->rule)].name << ", "
              << d->remaining << " left\n";
  }
}
