// The laws, over the embedded store.
#include <memory>

#include "gtest/gtest.h"
#include "weir/memory_store.h"
#include "weir/testing/conformance.h"

namespace {

weir::testing::StoreFactory MemoryFactory(const char* name, int stripes) {
  using weir::MemoryStore;
  weir::testing::StoreFactory factory;
  factory.name = name;
  factory.make = [stripes] {
    weir::testing::Harness harness;
    harness.clock = std::make_shared<weir::ManualClock>();
    weir::MemoryStoreOptions options;
    options.clock = harness.clock;
    options.stripes = stripes;
    absl::StatusOr<std::shared_ptr<MemoryStore>> store =
        MemoryStore::Create(options);
    if (store.ok()) {
      harness.store = *std::move(store);
    } else {
      ADD_FAILURE() << store.status();
    }
    return harness;
  };
  factory.keys = [](weir::Store& store) {
    return static_cast<MemoryStore&>(store).counters().keys;
  };
  factory.sweep = [](weir::Store& store, weir::Time now) {
    static_cast<MemoryStore&>(store).Sweep(0, now);
  };
  return factory;
}

}  // namespace

// One stripe: every key and rule meets every other under one lock.
WEIR_INSTANTIATE_CONFORMANCE(Memory, MemoryFactory("striped", 64),
                             MemoryFactory("one_stripe", 1));
