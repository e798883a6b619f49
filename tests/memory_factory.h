// The embedded store, for the conformance suites.
#ifndef WEIR_TESTS_MEMORY_FACTORY_H_
#define WEIR_TESTS_MEMORY_FACTORY_H_

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "weir/memory_store.h"
#include "weir/testing/store_factory.h"

namespace weir {

inline testing::StoreFactory MemoryFactory(std::string name, int stripes) {
  testing::StoreFactory factory;
  factory.name = std::move(name);
  factory.make = [stripes] {
    testing::Harness harness;
    harness.clock = std::make_shared<ManualClock>();
    MemoryStoreOptions options;
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
  factory.keys = [](Store& store) {
    return static_cast<MemoryStore&>(store).counters().keys;
  };
  factory.sweep = [](Store& store, Time now) {
    static_cast<MemoryStore&>(store).Sweep(0, now);
  };
  // Times to live are whole milliseconds.
  factory.slack = Micros(1000);
  return factory;
}

}  // namespace weir

#endif  // WEIR_TESTS_MEMORY_FACTORY_H_
