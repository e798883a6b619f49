// An embedded store whose clock stands still until a test moves it.
#ifndef WEIR_TESTS_CLOCKED_STORE_H_
#define WEIR_TESTS_CLOCKED_STORE_H_

#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

namespace weir {

class ClockedStore : public ::testing::Test {
 protected:
  ClockedStore() : clock_(std::make_shared<ManualClock>()) {
    MemoryStoreOptions options;
    options.clock = clock_;
    store_ = *MemoryStore::Create(options);
  }

  Limiter Make(Limit limit) {
    return *Limiter::Create(store_, std::move(limit));
  }

  std::shared_ptr<ManualClock> clock_;
  std::shared_ptr<MemoryStore> store_;
};

}  // namespace weir

#endif  // WEIR_TESTS_CLOCKED_STORE_H_
