// An engine of one's own through the conformance kit: every law that weir's
// own engines keep.
#include <memory>
#include <utility>

#include "quiet_time_laws.h"
#include "weir/clock.h"
#include "weir/memory_store.h"
#include "weir/testing/conformance.h"
#include "weir/testing/store_factory.h"

namespace {

weir::testing::StoreFactory Memory() {
  weir::testing::StoreFactory factory;
  factory.name = "memory";
  factory.make = [] {
    weir::testing::Harness harness;
    harness.clock = std::make_shared<weir::ManualClock>();
    weir::MemoryStoreOptions options;
    options.clock = harness.clock;
    auto store = weir::MemoryStore::Create(std::move(options));
    if (store.ok()) harness.store = *std::move(store);
    return harness;
  };
  factory.keys = [](weir::Store& store) {
    return static_cast<weir::MemoryStore&>(store).counters().keys;
  };
  factory.sweep = [](weir::Store& store, weir::Time now) {
    static_cast<weir::MemoryStore&>(store).Sweep(0, now);
  };
  factory.slack = weir::Micros(1000);  // times to live are whole milliseconds
  return factory;
}

}  // namespace

WEIR_INSTANTIATE_ENGINES_CONFORMANCE(QuietTime, MyEngines(), Memory());
