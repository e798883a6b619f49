// One key of the embedded store, without limiters, for tests of its Txn.
#ifndef WEIR_TESTS_MEMORY_TXN_HOST_H_
#define WEIR_TESTS_MEMORY_TXN_HOST_H_

#include <cstdint>
#include <functional>

#include "backends/memory/keeper.h"
#include "backends/memory/memory_txn.h"
#include "gtest/gtest.h"
#include "weir/testing/txn_factory.h"

namespace weir {

class MemoryTxnHost final : public testing::TxnHost {
 public:
  // `max_keys`: of the store; 0 is no bound.
  explicit MemoryTxnHost(int64_t max_keys = 0)
      : record_(0, 1, CompiledLimit(), nullptr, nullptr),
        keeper_(1, max_keys, 0, 0) {}

  void Step(int64_t now_us, const std::function<void(Txn&)>& body) override {
    EXPECT_TRUE(Run("key", now_us, body));
  }
  // On another key, for which there is no room.
  void StepWithoutRoom(int64_t now_us, const std::function<void(Txn&)>& body) {
    EXPECT_FALSE(Run("another key", now_us, body));
  }

  int64_t keys() const { return keeper_.keys(); }
  // What the store counts as taken.
  int64_t bytes() { return keeper_.context().bytes.load(); }

 private:
  // False if a write found no room.
  bool Run(std::string_view name, int64_t now_us,
           const std::function<void(Txn&)>& body) {
    const size_t stripe = 0;
    MemoryCall call = {&keeper_, now_us, false,
                       absl::MakeConstSpan(&stripe, 1)};
    Lock();
    bool found_room;
    {
      OpenKey key(&call, stripe, &record_,
                  keeper_.context().hash(record_.seed, name), name);
      MemoryTxn txn(&key);
      body(txn);
      found_room = !key.failed();
    }
    Unlock();
    return found_room;
  }
  void Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { keeper_.stripe(0).mutex.Lock(); }
  void Unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    keeper_.stripe(0).mutex.Unlock();
  }

  const LimitRecord record_;
  Keeper keeper_;
};

}  // namespace weir

#endif  // WEIR_TESTS_MEMORY_TXN_HOST_H_
