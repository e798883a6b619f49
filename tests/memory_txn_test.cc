// The embedded store's transactions are what Redis's keys are.
#include "backends/memory/memory_txn.h"

#include <memory>

#include "backends/memory/keeper.h"
#include "gtest/gtest.h"
#include "weir/testing/txn_factory.h"

namespace weir {
namespace {

// A key of a store without limiters.
class MemoryTxnHost final : public testing::TxnHost {
 public:
  MemoryTxnHost()
      : record_(0, 0, 1, CompiledLimit(), nullptr, nullptr), keeper_(1, 0, 0) {
    keeper_.context().records.Add(&record_);
  }

  void Step(int64_t now_us, const std::function<void(Txn&)>& body) override {
    const size_t stripe = 0;
    MemoryCall call = {&keeper_, now_us, false,
                       absl::MakeConstSpan(&stripe, 1)};
    Lock();
    {
      OpenKey key(&call, stripe, &record_,
                  keeper_.context().hash(record_.seed, "key"), "key");
      MemoryTxn txn(&key);
      body(txn);
      EXPECT_FALSE(key.failed());
    }
    Unlock();
  }

  int64_t keys() const { return keeper_.keys(); }

 private:
  void Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { keeper_.stripe(0).mutex.Lock(); }
  void Unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    keeper_.stripe(0).mutex.Unlock();
  }

  const LimitRecord record_;
  Keeper keeper_;
};

TEST(MemoryTxn, CountsAKeyForAsLongAsItIsThere) {
  MemoryTxnHost host;
  const int64_t t = 1'700'000'000'000'000;
  host.Step(t, [](Txn& txn) { txn.GET(); });
  EXPECT_EQ(host.keys(), 0);
  host.Step(t, [](Txn& txn) { txn.SET("value", 1000); });
  EXPECT_EQ(host.keys(), 1);
  host.Step(t, [](Txn& txn) {
    // Dropped and written again in one step.
    txn.DEL();
    txn.ZADD(1, "a");
    txn.ZREM("a");
    txn.ZADD(1, "a");
  });
  EXPECT_EQ(host.keys(), 1);
  host.Step(t, [](Txn& txn) { txn.ZREM("a"); });
  EXPECT_EQ(host.keys(), 0);
}

}  // namespace
}  // namespace weir

namespace {

weir::testing::TxnFactory MemoryTxns() {
  weir::testing::TxnFactory factory;
  factory.name = "memory";
  factory.make = [] { return std::make_unique<weir::MemoryTxnHost>(); };
  return factory;
}

}  // namespace

WEIR_INSTANTIATE_TXN_CONFORMANCE(Memory, MemoryTxns());
