// A store that is told of more limits than it could ever keep: those that
// nobody refers to leave, and those that are in use are obeyed to the unit.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/message.h"
#include "weir/bound_key.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

namespace weir {

struct MemoryStorePeer {
  static void SetMostLimits(MemoryStore& store, uint32_t most) {
    store.SetMostLimits(most);
  }
};

namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr int kManyLimits = 2'000;

// Under at most eight limits keys are held at one time.
class MemoryLimitsTest : public ::testing::Test {
 protected:
  explicit MemoryLimitsTest(MemoryStoreOptions options = {}) {
    options.clock = clock_;
    store_ = *MemoryStore::Create(options);
    MemoryStorePeer::SetMostLimits(*store_, 8);
  }

  // What is used of it stays used for an hour.
  static Limit Hourly(int64_t limit) {
    return Limit::FixedWindow(limit, hours(1));
  }
  Limiter Named(const std::string& name, Limit limit) const {
    return *Limiter::Create(store_,
                            std::vector<Rule>{{name, std::move(limit)}});
  }
  // Limiters that come and go, each of another limit and with a key of its own,
  // which leaves.
  void Pass(const std::string& name, int limiters) const {
    for (int i = 0; i < limiters; ++i) {
      const Limiter limiter =
          Named(name, Limit::FixedWindow(100 + i, seconds(1)));
      const std::string key = "of limiter " + std::to_string(i);
      const auto d = limiter.Check(key);
      ASSERT_TRUE(d.ok()) << d.status();
      ASSERT_EQ(d->remaining, 99 + i);
      ASSERT_TRUE(limiter.Reset(key).ok());
    }
  }

  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::shared_ptr<MemoryStore> store_;
};

TEST_F(MemoryLimitsTest, LimitersThatGoTakeTheirLimitsWithThem) {
  for (const char* name : {"one", "another"}) {
    Pass(name, kManyLimits);
    EXPECT_LE(store_->counters().limits, 8);
  }
}

TEST_F(MemoryLimitsTest, NamesThatAreMadeUpLeaveToo) {
  for (int i = 0; i < kManyLimits; ++i) {
    const Limiter limiter = Named("name " + std::to_string(i), Hourly(10));
    ASSERT_EQ(limiter.Check("key")->remaining, 9);
    ASSERT_EQ(limiter.Reset("key")->remaining, 10);
  }
  EXPECT_LE(store_->counters().limits, 8);
}

TEST_F(MemoryLimitsTest, AKeyThatLivesOnIsCarriedOverFromItsOwnLimit) {
  // Of a day and of an hour: what was used tells which.
  ASSERT_TRUE(
      Named("rule", Limit::Gcra(24, hours(24 * 365))).Check("key", 6)->allowed);
  Pass("rule", kManyLimits);
  Pass("another", kManyLimits);
  const Limiter late = Named("rule", Limit::Gcra(240, hours(24 * 365 * 10)));
  EXPECT_EQ(late.Peek("key")->remaining, 234);
  EXPECT_EQ(late.Check("key")->remaining, 233);
}

TEST_F(MemoryLimitsTest, ALimiterIsUpdatedForEver) {
  Limiter limiter = Named("rule", Hourly(1'000'000));
  for (int i = 1; i <= kManyLimits; ++i) {
    ASSERT_TRUE(limiter.Update(Hourly(1'000'000 + i)).ok());
    const auto d = limiter.Check("key");
    ASSERT_TRUE(d.ok()) << d.status();
    ASSERT_EQ(d->remaining, 1'000'000);
    // A key that is asked once.
    ASSERT_TRUE(limiter.Check(std::to_string(i)).ok());
    ASSERT_EQ(limiter.Refund(std::to_string(i))->remaining, 1'000'000 + i);
  }
  EXPECT_EQ(store_->counters().keys, 1);
}

TEST_F(MemoryLimitsTest, AHandleIsObeyedThroughAllUpdates) {
  Limiter limiter = Named("rule", Hourly(1'000'000));
  ASSERT_TRUE(limiter.Check("key").ok());
  int64_t used = 1;
  auto handle = std::make_unique<BoundKey>(*limiter.Bind("key"));
  for (int i = 1; i <= kManyLimits; ++i) {
    ASSERT_TRUE(limiter.Update(Hourly(1'000'000 + i)).ok());
    auto d = handle->Check(i % 3);
    used += i % 3;
    ASSERT_TRUE(d.ok()) << d.status();
    ASSERT_EQ(d->remaining(), 1'000'000 + i - used);
    if (i % 100 == 0) Pass("another", 10);
  }
  handle.reset();
  Pass("another", 100);
  EXPECT_EQ(Named("rule", Hourly(2'000'000)).Peek("key")->remaining,
            2'000'000 - used);
}

TEST_F(MemoryLimitsTest, AHandleThatTookNothingLeavesNothing) {
  for (int i = 1; i <= kManyLimits; ++i) {
    const Limiter limiter = Named("rule", Hourly(i));
    const auto handle = limiter.Bind("key");
    ASSERT_TRUE(handle.ok()) << handle.status();
    ASSERT_EQ(limiter.Peek("key")->remaining, i);
  }
  EXPECT_EQ(store_->counters().keys, 0);
  EXPECT_LE(store_->counters().limits, 8);
}

// Keys are held under eight limits, and a ninth comes.
class FullMemoryLimitsTest : public MemoryLimitsTest {
 protected:
  FullMemoryLimitsTest() {
    for (int i = 0; i < 8; ++i) {
      limiters_.push_back(Named("rule", Hourly(10 + i)));
      EXPECT_TRUE(limiters_.back().Check(std::to_string(i)).ok());
    }
    limiters_.push_back(Named("rule", Hourly(100)));
  }

  const Limiter& Ninth() const { return limiters_.back(); }
  static void ExpectOut(const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(Message(status), HasSubstr("under 8 different limits"));
  }

  std::vector<Limiter> limiters_;
};

TEST_F(FullMemoryLimitsTest, TheNinthIsNotDecidedAndChangesNothing) {
  const MemoryStore::Counters before = store_->counters();
  for (const char* key : {"0", "new"}) {
    SCOPED_TRACE(key);
    const Decision peek = *Ninth().Peek(key);
    ExpectOut(Ninth().Check(key).status());
    ExpectOut(Ninth().Check(key).status());
    ExpectOut(Ninth().CheckMany({key})[0].status());
    EXPECT_EQ(Ninth().Peek(key)->remaining, peek.remaining);
  }
  ExpectOut(Ninth().Bind("new").status());
  ExpectOut(Ninth().Refund("0").status());
  EXPECT_EQ(store_->counters().keys, before.keys);
  // A call each, but for Bind.
  EXPECT_EQ(store_->counters().refused, before.refused + 7);
  EXPECT_EQ(limiters_[0].Peek("0")->remaining, 9);
  // With several rules none of them is charged.
  const Limiter both = *Limiter::Create(
      store_, std::vector<Rule>{{"rule", Hourly(10)}, {"other", Hourly(10)}});
  ExpectOut(both.Check("0").status());
  EXPECT_EQ(limiters_[0].Peek("0")->remaining, 9);
}

TEST_F(FullMemoryLimitsTest, ItIsDecidedOnceAKeyLeaves) {
  ASSERT_TRUE(limiters_[3].Reset("3").ok());
  EXPECT_EQ(Ninth().Check("0")->remaining, 98);
  EXPECT_EQ(Ninth().Check("new")->remaining, 99);
}

TEST_F(FullMemoryLimitsTest, ItIsDecidedOnceKeysAreOver) {
  clock_->Advance(hours(2));
  // A clock of the caller's own is believed once 32 calls agree.
  int calls = 1;
  while (!Ninth().Check("new").ok()) ASSERT_LE(++calls, 33);
  EXPECT_GT(calls, 1);
  EXPECT_EQ(Ninth().Check("new")->remaining, 98);
}

class SharedMemoryLimitsTest : public MemoryLimitsTest {
 protected:
  SharedMemoryLimitsTest() : MemoryLimitsTest(Sharing()) {
    EXPECT_TRUE(filler_.Check("filler")->allowed);
  }
  static MemoryStoreOptions Sharing() {
    MemoryStoreOptions options;
    options.max_keys = 1;
    options.when_full = WhenFull::kShare;
    return options;
  }
  void MakeRoom() const { ASSERT_TRUE(filler_.Reset("filler").ok()); }
  // The ids of all limits that nobody holds become those of others.
  void FillAndDrain() const {
    std::vector<Limiter> others;
    for (int i = 0; i < 20; ++i) {
      others.push_back(Named("of its own " + std::to_string(i), Hourly(3)));
      ASSERT_EQ(others.back().Check("a", 1)->remaining, 2);
      clock_->Advance(hours(2));
      store_->Sweep();
      clock_->Advance(-hours(2));
    }
  }

  const Limiter filler_ = Named("filler", Limit::Gcra(1, hours(24 * 365)));
};

TEST_F(SharedMemoryLimitsTest, ASharedStateIsCarriedOverFromItsOwnLimit) {
  ASSERT_EQ(Named("rule", Hourly(10)).Check("a", 4)->remaining, 6);
  MakeRoom();
  Pass("another", kManyLimits);
  EXPECT_LE(store_->counters().limits, 8);
  const Limiter late = Named("rule", Hourly(20));
  EXPECT_EQ(late.Peek("b")->remaining, 16);
  // A key that finds room leaves with a copy of it.
  EXPECT_EQ(late.Check("b")->remaining, 15);
  EXPECT_EQ(late.Check("b")->remaining, 14);
  EXPECT_EQ(late.Peek("c")->remaining, 16);
}

TEST_F(SharedMemoryLimitsTest, AHandleStartsFromTheSharedState) {
  ASSERT_EQ(Named("rule", Hourly(10)).Check("a", 4)->remaining, 6);
  MakeRoom();
  auto late = std::make_unique<Limiter>(Named("rule", Hourly(20)));
  auto handle = std::make_unique<BoundKey>(*late->Bind("b"));
  EXPECT_EQ(late->Peek("b")->remaining, 16);
  // The handle's state alone is of the old limit, then the entry's is.
  clock_->Advance(hours(2));
  store_->Sweep();
  clock_->Advance(-hours(2));
  FillAndDrain();
  EXPECT_EQ(late->Peek("b")->remaining, 16);
  handle.reset();
  late.reset();
  for (int i = 0; i < 20; ++i) Named("new " + std::to_string(i), Hourly(3));
  EXPECT_EQ(Named("rule", Hourly(20)).Peek("b")->remaining, 16);
}

TEST_F(SharedMemoryLimitsTest, ALimitLeavesWithTheSharedStateOfIt) {
  for (int i = 0; i < kManyLimits; ++i) {
    const std::string name = "name " + std::to_string(i);
    ASSERT_EQ(Named(name, Hourly(10)).Check("a", 4)->remaining, 6);
    // Under another limit of the same name, once it is over.
    clock_->Advance(hours(2));
    ASSERT_EQ(Named(name, Hourly(20)).Check("a", 4)->remaining, 16);
    clock_->Advance(hours(2));
    if (i % 4 == 0) store_->Sweep();
  }
  EXPECT_LE(store_->counters().limits, 16);
}

TEST(MemoryLimitsThreads, WhatIsUsedStaysUsedWhileLimitsComeAndGo) {
  MemoryStoreOptions options;
  options.stripes = 2;
  const std::shared_ptr<MemoryStore> store = *MemoryStore::Create(options);
  MemoryStorePeer::SetMostLimits(*store, 64);
  const auto limit = [](int64_t i) {
    return Limit::FixedWindow(1'000'000'000 + i, hours(24 * 365));
  };
  const auto rules = [&](int64_t i) {
    return std::vector<Rule>{{"rule", limit(i)}, {"other", limit(i)}};
  };
  Limiter one = *Limiter::Create(store, std::vector<Rule>{{"rule", limit(0)}});
  Limiter both = *Limiter::Create(store, rules(0));
  const BoundKey handle = *one.Bind("key 0");
  std::atomic<bool> done{false};
  std::atomic<int64_t> used[3] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; !done; ++i) {
        const std::string key = "key " + std::to_string(i % 3);
        absl::Status status;
        if (t == 0) {
          status = one.Check(key).status();
        } else if (t == 1) {
          status = both.Check(key).status();
        } else if (i % 3 == 0) {
          status = handle.Check().status();
        } else {
          // A limiter of a computed limit, which goes at once.
          status = Limiter::Create(store, std::vector<Rule>{{"rule", limit(i)}})
                       ->Check(key)
                       .status();
        }
        ASSERT_TRUE(status.ok()) << status;
        used[i % 3].fetch_add(1);
        // A key that leaves at once.
        ASSERT_TRUE(one.Check("of thread " + std::to_string(t)).ok());
        ASSERT_TRUE(one.Reset("of thread " + std::to_string(t)).ok());
      }
    });
  }
  for (int64_t i = 1; i <= kManyLimits; ++i) {
    ASSERT_TRUE(one.Update(limit(i)).ok());
    ASSERT_TRUE(both.Update(rules(-i)).ok());
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 3; ++i) {
    const std::string key = "key " + std::to_string(i);
    EXPECT_EQ(one.Peek(key)->remaining,
              1'000'000'000 + kManyLimits - used[i].load());
  }
}

}  // namespace
}  // namespace weir
