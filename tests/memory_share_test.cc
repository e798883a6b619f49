// A full store under WhenFull::kShare: what its calls do to the state that keys
// without room share, and what they leave alone. That it is as strict as states
// of their own, over random traces, is tests/oracle/share_test.cc.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/user_engines.h"
#include "weir/bound_key.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class MemoryShareTest : public ::testing::Test {
 protected:
  MemoryShareTest() : store_(Make(1)), filler_(Full(store_)) {}

  std::shared_ptr<MemoryStore> Make(int64_t max_keys) const {
    MemoryStoreOptions options;
    options.clock = clock_;
    options.max_keys = max_keys;
    options.when_full = WhenFull::kShare;
    return *MemoryStore::Create(options);
  }
  // Takes the room of one key.
  static Limiter Full(const std::shared_ptr<MemoryStore>& store) {
    Limiter filler = *Limiter::Create(
        store, std::vector<Rule>{{"filler", Limit::Gcra(1, hours(24 * 365))}});
    EXPECT_TRUE(filler.Check("filler")->allowed);
    return filler;
  }
  void MakeRoom() const { ASSERT_TRUE(filler_.Reset("filler").ok()); }
  Limiter With(Limit limit) const {
    return *Limiter::Create(store_, std::move(limit));
  }

  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  const std::shared_ptr<MemoryStore> store_;
  const Limiter filler_;
};

TEST_F(MemoryShareTest, KeysWithoutRoomAreDecidedTogether) {
  const Limiter limiter = With(Limit::Gcra(3, hours(1)));
  EXPECT_EQ(limiter.Check("a")->remaining, 2);
  EXPECT_EQ(limiter.Check("b", 2)->remaining, 0);
  const Decision d = *limiter.Check("c");
  EXPECT_FALSE(d.allowed);
  ASSERT_FALSE(d.never());
  clock_->Advance(*d.retry_after - Micros(1));
  EXPECT_FALSE(limiter.Check("c")->allowed);
  clock_->Advance(Micros(1));
  EXPECT_TRUE(limiter.Check("d")->allowed);
  EXPECT_EQ(store_->counters().keys, 1);
  EXPECT_EQ(store_->counters().shared, 5);
  EXPECT_EQ(store_->counters().refused, 0);
}

TEST_F(MemoryShareTest, RulesOfAnotherNameShareNothing) {
  const Limiter one = With(Limit::Gcra(1, hours(1)));
  const Limiter two = *Limiter::Create(
      store_, std::vector<Rule>{{"two", Limit::Gcra(1, hours(1))}});
  EXPECT_TRUE(one.Check("a")->allowed);
  EXPECT_TRUE(two.Check("a")->allowed);
  EXPECT_FALSE(two.Check("b")->allowed);
}

TEST_F(MemoryShareTest, WhoLeavesStartsFromACopy) {
  for (const Limit& limit :
       {Limit::Gcra(4, hours(1)), Limit::FixedWindow(4, hours(1)),
        Limit::SlidingLog(4, hours(1)), Limit::SlidingLogList(4, hours(1))}) {
    SCOPED_TRACE(limit.algorithm());
    const auto store = Make(1);
    const Limiter filler = Full(store);
    const Limiter limiter = *Limiter::Create(store, limit);
    EXPECT_EQ(limiter.Check("a", 2)->remaining, 2);
    ASSERT_TRUE(filler.Reset("filler").ok());
    EXPECT_EQ(limiter.Peek("b")->remaining, 2);
    EXPECT_EQ(store->counters().keys, 0);
    EXPECT_EQ(limiter.Check("b")->remaining, 1);
    EXPECT_EQ(store->counters().keys, 1);
    // Two states now.
    EXPECT_EQ(limiter.Check("c")->remaining, 1);
    EXPECT_EQ(limiter.Check("b")->remaining, 0);
    EXPECT_EQ(limiter.Check("c")->remaining, 0);
    clock_->Advance(hours(2));
    EXPECT_EQ(limiter.Check("b")->remaining, 3);
    EXPECT_EQ(limiter.Peek("c")->remaining, 4);
  }
}

TEST_F(MemoryShareTest, ADeniedKeyGetsNoEntry) {
  const Limiter limiter = With(Limit::SlidingLog(2, hours(1)));
  ASSERT_TRUE(limiter.Check("a", 2)->allowed);
  MakeRoom();
  EXPECT_FALSE(limiter.Check("b")->allowed);
  EXPECT_EQ(limiter.Check("b", 0)->remaining, 0);
  EXPECT_EQ(store_->counters().keys, 0);
}

TEST_F(MemoryShareTest, ACallOfSeveralRulesChargesAllOrNone) {
  const std::vector<Rule> rules = {{"one", Limit::Gcra(5, hours(1))},
                                   {"two", Limit::SlidingLog(2, hours(1))}};
  const Limiter limiter = *Limiter::Create(store_, rules);
  EXPECT_TRUE(limiter.Check("a")->allowed);
  EXPECT_TRUE(limiter.Check("b")->allowed);
  for (int i = 0; i < 3; ++i) {
    const Decision d = *limiter.Check("c");
    EXPECT_FALSE(d.allowed);
    EXPECT_EQ(d.rules()[0].remaining, 3);
    EXPECT_EQ(d.rules()[1].remaining, 0);
  }
  // Room for one of the two: the other one goes on sharing.
  clock_->Advance(hours(2));
  MakeRoom();
  EXPECT_TRUE(limiter.Check("c")->allowed);
  EXPECT_EQ(store_->counters().keys, 1);
  EXPECT_EQ(limiter.Peek("d")->rules()[0].remaining, 5);
  EXPECT_EQ(limiter.Peek("d")->rules()[1].remaining, 1);
}

TEST_F(MemoryShareTest, PeekRefundAndResetChangeNothing) {
  const Limiter limiter = With(Limit::Gcra(4, hours(1)));
  ASSERT_TRUE(limiter.Check("a", 3)->allowed);
  for (const char* key : {"a", "b"}) {
    EXPECT_EQ(limiter.Peek(key)->remaining, 1);
    EXPECT_EQ(limiter.Refund(key, 3)->remaining, 1);
    EXPECT_EQ(limiter.Reset(key)->remaining, 1);
    EXPECT_EQ(limiter.Peek(key)->remaining, 1);
  }
  auto reservation = limiter.Reserve("c", 1, seconds(0));
  ASSERT_TRUE(reservation.ok() && reservation->reserved());
  EXPECT_EQ(limiter.Peek("a")->remaining, 0);
  EXPECT_TRUE(reservation->Cancel().ok());
  EXPECT_EQ(limiter.Peek("a")->remaining, 0);
}

TEST_F(MemoryShareTest, AKeyThatIsResetSharesWithTheOthers) {
  const Limiter limiter = With(Limit::Gcra(4, hours(1)));
  MakeRoom();
  ASSERT_TRUE(limiter.Check("known", 4)->allowed);
  ASSERT_TRUE(limiter.Check("a", 3)->allowed);
  EXPECT_EQ(limiter.Reset("known")->remaining, 1);
  EXPECT_EQ(limiter.Peek("known")->remaining, 1);
}

TEST_F(MemoryShareTest, HandlesGoByKeyOrStartFromACopy) {
  const Limiter limiter = With(Limit::Gcra(4, hours(1)));
  const BoundKey shares = *limiter.Bind("a");
  EXPECT_EQ(shares.Check()->remaining(), 3);
  EXPECT_EQ(limiter.Check("b")->remaining, 2);
  EXPECT_EQ(shares.Check()->remaining(), 1);
  MakeRoom();
  const BoundKey own = *limiter.Bind("c");
  EXPECT_EQ(store_->counters().keys, 1);
  EXPECT_EQ(own.Check()->remaining(), 0);
  EXPECT_EQ(shares.Check()->remaining(), 0);
}

TEST_F(MemoryShareTest, AHandlesWindowBeginsNoSoonerThanTheHandle) {
  const Limiter limiter = With(Limit::FixedWindow(3, seconds(10)));
  EXPECT_EQ(limiter.Check("b")->remaining, 2);
  MakeRoom();
  clock_->Advance(seconds(5));
  const BoundKey own = *limiter.Bind("c");
  clock_->Advance(seconds(4));
  EXPECT_TRUE(own.Check(2)->allowed());
  // The shared window ends here.
  clock_->Advance(seconds(1));
  EXPECT_FALSE(own.Check()->allowed());
  clock_->Advance(seconds(5));
  EXPECT_TRUE(own.Check()->allowed());
}

TEST_F(MemoryShareTest, ABatchIsDecidedOneByOne) {
  const Limiter limiter = With(Limit::FixedWindow(3, hours(1)));
  const std::vector<std::string_view> keys = {"a", "b", "c", "d"};
  const auto decisions = limiter.CheckMany(keys);
  for (int i = 0; i < 4; ++i) {
    const auto& d = decisions[static_cast<size_t>(i)];
    ASSERT_TRUE(d.ok());
    EXPECT_EQ(d->allowed, i < 3);
    EXPECT_EQ(d->remaining, std::max(0, 2 - i));
  }
}

TEST_F(MemoryShareTest, AnotherLimitWaitsUntilTheStateIsOver) {
  Limiter limiter = With(Limit::Gcra(2, hours(1)));
  ASSERT_TRUE(limiter.Check("a")->allowed);
  ASSERT_TRUE(limiter.Update(Limit::Gcra(20, seconds(1))).ok());
  EXPECT_EQ(limiter.Check("a").status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(limiter.Peek("b")->remaining, 19);
  EXPECT_EQ(store_->counters().refused, 1);
  clock_->Advance(hours(1));
  EXPECT_TRUE(limiter.Check("a")->allowed);
}

TEST_F(MemoryShareTest, WhoLeavesForALimitOfAnotherFormKeepsWhatIsUsed) {
  // The state of the first lies in one word, that of the second in two.
  Limiter limiter = With(Limit::Gcra(10, hours(1)));
  EXPECT_EQ(limiter.Check("a", 3)->remaining, 7);
  ASSERT_TRUE(limiter.Update(Limit::Gcra(1009, hours(1))).ok());
  MakeRoom();
  EXPECT_EQ(limiter.Check("b")->remaining, 1005);
  EXPECT_EQ(limiter.Peek("b")->remaining, 1005);
  ASSERT_TRUE(limiter.Update(Limit::Gcra(10, hours(1))).ok());
  EXPECT_EQ(limiter.Check("b")->remaining, 5);
  ASSERT_TRUE(limiter.Reset("b").ok());
  // A handle starts from the copy too.
  ASSERT_TRUE(limiter.Update(Limit::Gcra(1009, hours(1))).ok());
  const BoundKey handle = *limiter.Bind("c");
  EXPECT_EQ(handle.Check()->remaining(), 1005);
}

TEST_F(MemoryShareTest, WhoLeavesKeepsTheLastFractionOfAMicrosecond) {
  Limiter limiter = With(Limit::Gcra(1009, hours(1)));
  EXPECT_EQ(limiter.Check("a")->remaining, 1008);
  // A call's share is 3,567,888.999 us.
  clock_->Advance(Micros(3'567'888));
  MakeRoom();
  ASSERT_TRUE(limiter.Update(Limit::Gcra(10, hours(1))).ok());
  EXPECT_EQ(limiter.Check("b")->remaining, 8);
  ASSERT_TRUE(limiter.Reset("b").ok());
  EXPECT_EQ(limiter.Bind("c")->Check()->remaining(), 8);
}

TEST_F(MemoryShareTest, AnEngineFromOutsideSharesNothing) {
  LimiterOptions options;
  options.registry = &UserRegistry();
  const Limiter limiter = *Limiter::Create(
      store_, Renamed(Limit::Gcra(2, hours(1)), "my_gcra"), options);
  EXPECT_EQ(limiter.Check("a").status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(MemoryShareTest, ASharedLogCountsInTheBytesUntilItIsOver) {
  const Limiter limiter = With(Limit::SlidingLog(1000, hours(1)));
  const int64_t before = store_->counters().bytes;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(limiter.Check("key" + std::to_string(i))->allowed);
  }
  const int64_t taken = store_->counters().bytes - before;
  EXPECT_GT(taken, 8'000);
  EXPECT_LT(taken, 10'000);
  store_->Sweep();
  EXPECT_EQ(store_->counters().bytes - before, taken);
  clock_->Advance(hours(1));
  store_->Sweep();
  EXPECT_EQ(store_->counters().bytes, before);
}

// Four threads, new keys all the time, two rules in either order, room that
// comes and goes: of the shared states the capacity is granted, to the unit,
// and of each key's own at most as much.
TEST_F(MemoryShareTest, ThreadsAreGrantedTheCapacity) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 4'000;
  constexpr int64_t kCapacity = 1'000;
  const std::vector<Rule> rules = {
      {"one", Limit::Gcra(kCapacity, hours(24 * 365))},
      {"two", Limit::SlidingLog(kCapacity, hours(24 * 365))}};
  const Limiter both = *Limiter::Create(store_, rules);
  const Limiter reversed =
      *Limiter::Create(store_, std::vector<Rule>{rules[1], rules[0]});
  std::atomic<int64_t> granted{0};
  const auto run = [&](int thread) {
    const Limiter& limiter = thread % 2 == 0 ? both : reversed;
    for (int i = 0; i < kCalls; ++i) {
      const std::string key =
          "key" + std::to_string(thread) + "/" + std::to_string(i);
      const auto d = limiter.Check(key);
      if (d.ok() && d->allowed) granted.fetch_add(1);
      if (i % 16 == 0) limiter.Peek(key).IgnoreError();
      if (i % 64 == 0) limiter.Reset(key).IgnoreError();
      if (i % 128 == 0) store_->Sweep(8);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(run, i);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(granted.load(), kCapacity);
  EXPECT_EQ(store_->counters().refused, 0);
  EXPECT_EQ(store_->counters().shared, kThreads * kCalls);
}

// One of the keys leaves with its first call. It and the others are granted
// what was left, each of both to the unit.
TEST_F(MemoryShareTest, ThreadsOfAKeyThatLeavesAreNotRefilled) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 3'000;
  constexpr int64_t kCapacity = 1'000;
  constexpr int kKeys = 8;
  const Limiter limiter = With(Limit::Gcra(kCapacity, hours(24 * 365)));
  ASSERT_TRUE(limiter.Check("key0", kCapacity / 2)->allowed);
  MakeRoom();
  std::atomic<int64_t> granted{0};
  const auto run = [&](int thread) {
    for (int i = 0; i < kCalls; ++i) {
      const auto d =
          limiter.Check("key" + std::to_string((i + thread) % kKeys));
      if (d.ok() && d->allowed) granted.fetch_add(1);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(run, i);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(granted.load(), kCapacity);
  EXPECT_EQ(store_->counters().keys, 1);
}

}  // namespace
}  // namespace weir
