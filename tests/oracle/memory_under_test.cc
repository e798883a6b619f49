#include <memory>

#include "tests/oracle/store_under_test.h"
#include "weir/memory_store.h"

namespace weir_oracle {

const int64_t kFewerCalls = 1;

weir::testing::StoreFactory StoreUnderTest() {
  weir::testing::StoreFactory factory;
  factory.name = "Memory";
  factory.make = [] {
    auto clock = std::make_shared<weir::ManualClock>();
    weir::MemoryStoreOptions options;
    options.clock = clock;
    return weir::testing::Harness{*weir::MemoryStore::Create(options), clock};
  };
  return factory;
}

}  // namespace weir_oracle
