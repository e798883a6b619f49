// A program of a user's: every consumer project here builds it.
#include <chrono>
#include <cstdio>
#include <memory>

#include "absl/status/statusor.h"
#include "weir/clock.h"
#include "weir/decision.h"
#include "weir/engine.h"
#include "weir/limit.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"
#include "weir/registry.h"
#include "weir/store.h"
#include "weir/time.h"
#include "weir/txn.h"

static_assert(__cplusplus / 100 == WEIR_EXPECTED_STANDARD,
              "the consumer's own C++ standard must stand");

int main() {
  auto store = weir::MemoryStore::Create();
  if (!store.ok()) return 1;
  auto limiter = weir::Limiter::Create(
      *store, weir::Limit::Gcra(3, std::chrono::hours(1)));
  if (!limiter.ok()) return 2;

  for (int call = 0; call < 4; ++call) {
    absl::StatusOr<weir::Decision> d = limiter->Check("user:42");
    if (!d.ok()) return 3;
    if (d->allowed != (call < 3)) return 4;
  }
  // An engine compiled into the user's own code registers under its name.
  if (weir::Registry::BuiltIn().Find("gcra") == nullptr) return 5;
  std::puts("three of four calls passed");
  return 0;
}
