// The embedded store's transactions are what Redis's keys are.
#include <memory>

#include "gtest/gtest.h"
#include "tests/memory_txn_host.h"
#include "weir/testing/txn_factory.h"

namespace weir {
namespace {

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

TEST(MemoryTxn, WithoutRoomNothingIsWrittenAndTheErrorSaysSo) {
  MemoryTxnHost host(1);
  const int64_t t = 1'700'000'000'000'000;
  host.Step(t, [](Txn& txn) { txn.RPUSH("a"); });
  const std::vector<std::function<void(Txn&)>> writes = {
      [](Txn& txn) { EXPECT_FALSE(txn.SETNX("a")); },
      [](Txn& txn) { EXPECT_EQ(txn.INCRBY(1), std::nullopt); },
      [](Txn& txn) { EXPECT_EQ(txn.APPEND("a"), 0); },
      [](Txn& txn) { EXPECT_EQ(txn.RPUSH("a"), 0); },
      [](Txn& txn) { EXPECT_FALSE(txn.ZADD(1, "a")); },
      [](Txn& txn) { EXPECT_EQ(txn.ZINCRBY(1, "a"), std::nullopt); },
      [](Txn& txn) { EXPECT_FALSE(txn.HSET("a", "b")); },
      [](Txn& txn) { EXPECT_EQ(txn.HINCRBY("a", 1), std::nullopt); }};
  for (const auto& write : writes) {
    host.StepWithoutRoom(t, [&](Txn& txn) {
      write(txn);
      EXPECT_EQ(txn.TakeError(),
                "OOM command not allowed when used memory > 'maxmemory'.");
      EXPECT_FALSE(txn.EXISTS());
    });
  }
  EXPECT_EQ(host.keys(), 1);
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
