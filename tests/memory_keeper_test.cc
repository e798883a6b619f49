// The keeper of the stripes: what a call pays that finds no room.
#include <algorithm>
#include <string>

#include "backends/memory/keeper.h"
#include "gtest/gtest.h"
#include "weir/registry.h"

namespace weir {
namespace {

int64_t examined = 0;
bool all_over = false;

bool CountingOver(const void*, const char*, int64_t) {
  ++examined;
  return all_over;
}

constexpr WordOps kOps = {16, {}, &CountingOver, nullptr, nullptr};
constexpr int kStripes = 4;
constexpr int64_t kKeys = 2'000;

class KeeperTest : public ::testing::Test {
 protected:
  KeeperTest() {
    examined = 0;
    all_over = false;
    RecordTable& records = keeper_.context().records;
    for (int64_t i = 0; i < kKeys; ++i) {
      const std::string key = "client:" + std::to_string(i);
      const uint64_t hash = keeper_.context().hash(record_.seed, key);
      EXPECT_TRUE(Reserve());
      Stripe& s = keeper_.stripe(keeper_.StripeOf(hash));
      const SpinLockHolder lock(&s.mutex);
      EXPECT_TRUE(records.Hold(record_));
      s.table.Insert(hash, record_, key);
    }
  }

  bool Reserve() {
    return keeper_.Reserve({1, {}, /*now=*/1'000, /*steady=*/true});
  }
  int64_t Moved() {
    int64_t moved = 0;
    for (int i = 0; i < kStripes; ++i) {
      Stripe& s = keeper_.stripe(static_cast<size_t>(i));
      const SpinLockHolder lock(&s.mutex);
      moved += s.table.moved();
    }
    return moved;
  }

  const LimitRecord record_{0, 1, CompiledLimit(), &kOps, nullptr};
  Keeper keeper_{kStripes, kKeys, 0, 0};
};

TEST_F(KeeperTest, ARefusedCallExaminesAtMost64Entries) {
  for (int i = 0; i < 50; ++i) {
    examined = 0;
    EXPECT_FALSE(Reserve());
    EXPECT_GT(examined, 0);
    EXPECT_LE(examined, 64);
  }
}

TEST_F(KeeperTest, ACallThatFindsRoomMovesAtMost64Entries) {
  all_over = true;
  // Nothing is put into the room that is found: in the end all have left.
  int64_t most = 0;
  for (int64_t before = Moved(); Reserve(); before = Moved()) {
    most = std::max(most, Moved() - before);
  }
  EXPECT_GE(Moved(), kKeys);
  EXPECT_LE(most, 64);
}

}  // namespace
}  // namespace weir
