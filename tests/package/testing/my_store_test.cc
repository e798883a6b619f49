// The tests of a store of somebody else's: one factory, every law.
#include <memory>
#include <utility>

#include "weir/clock.h"
#include "weir/memory_store.h"
#include "weir/testing/conformance.h"
#include "weir/testing/store_factory.h"

namespace {

weir::testing::StoreFactory MyFactory() {
  weir::testing::StoreFactory factory;
  factory.name = "mine";
  factory.make = [] {
    weir::testing::Harness harness;
    harness.clock = std::make_shared<weir::ManualClock>();
    weir::MemoryStoreOptions options;
    options.clock = harness.clock;
    auto store = weir::MemoryStore::Create(std::move(options));
    if (store.ok()) harness.store = *std::move(store);
    return harness;
  };
  return factory;
}

}  // namespace

WEIR_INSTANTIATE_CONFORMANCE(Mine, MyFactory());
