// What the embedded store promises of itself: its options, its bound on keys,
// when a key leaves, what it counts.
#include "weir/memory_store.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weir/bound_key.h"
#include "weir/limiter.h"
#include "weir/registry.h"
#include "weir/testing/engine_samples.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;

class MemoryStoreTest : public ::testing::Test {
 protected:
  std::shared_ptr<MemoryStore> Make(int64_t max_keys, int stripes) {
    MemoryStoreOptions options;
    options.clock = clock_;
    options.max_keys = max_keys;
    options.stripes = stripes;
    absl::StatusOr<std::shared_ptr<MemoryStore>> store =
        MemoryStore::Create(options);
    EXPECT_TRUE(store.ok()) << store.status();
    return *store;
  }

  static Limiter With(std::shared_ptr<Store> store, Limit limit) {
    absl::StatusOr<Limiter> limiter =
        Limiter::Create(std::move(store), std::move(limit));
    EXPECT_TRUE(limiter.ok()) << limiter.status();
    return *std::move(limiter);
  }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
};

std::string Key(int64_t i) { return "key" + std::to_string(i); }

TEST_F(MemoryStoreTest, RefusesOptionsByName) {
  for (const int stripes : {0, -1, 3, 100, 65'535, 131'072}) {
    MemoryStoreOptions options;
    options.stripes = stripes;
    const absl::Status s = MemoryStore::Create(options).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << stripes;
    EXPECT_THAT(std::string(s.message()), HasSubstr("stripes"));
    EXPECT_THAT(std::string(s.message()), HasSubstr(std::to_string(stripes)));
    EXPECT_THAT(std::string(s.message()), HasSubstr("65536"));
  }
  MemoryStoreOptions options;
  options.max_keys = -1;
  const absl::Status s = MemoryStore::Create(options).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("max_keys: -1"));
  options.max_keys = 1;
  options.max_bytes = -2;
  EXPECT_THAT(std::string(MemoryStore::Create(options).status().message()),
              HasSubstr("max_bytes: -2"));
  options.max_bytes = 0;
  options.slack = Micros(-1);
  EXPECT_THAT(std::string(MemoryStore::Create(options).status().message()),
              HasSubstr("slack: -1us"));
}

TEST_F(MemoryStoreTest, ALateTimeMeetsWhatItsKeyHasSeenWithinTheSlack) {
  MemoryStoreOptions options;
  options.slack = hours(2);
  options.stripes = 1;
  const auto store = *MemoryStore::Create(options);
  const Limiter limiter = With(store, Limit::Gcra(1, seconds(60)));
  const Time begin = TimeFromMicros(1'700'000'000'000'000);
  const auto ask = [&](std::string_view key, Micros after) {
    Call call;
    call.keys = absl::MakeConstSpan(&key, 1);
    call.now = begin + after;
    return limiter.Check(call)->allowed;
  };
  const auto go_on = [&](Micros after) {
    for (int i = 0; i < 100'000; ++i) ask(std::to_string(i % 100), after);
  };
  EXPECT_TRUE(ask("late", Micros(0)));
  go_on(hours(1));
  EXPECT_EQ(store->counters().keys, 101);
  EXPECT_FALSE(ask("late", Micros(0)));
  go_on(hours(4));
  EXPECT_EQ(store->counters().keys, 100);
}

TEST_F(MemoryStoreTest, StaysWithinItsBytes) {
  MemoryStoreOptions options;
  options.clock = clock_;
  options.max_keys = 0;
  options.max_bytes = 100'000;
  options.stripes = 1;
  const auto store = *MemoryStore::Create(options);
  const Limiter limiter = With(store, Limit::SlidingLog(100'000, hours(1)));
  int64_t allowed = 0;
  while (allowed < 50'000 && limiter.Check("a").ok()) ++allowed;
  // 8 bytes for each call.
  EXPECT_GT(allowed, 8'000);
  EXPECT_LT(allowed, 12'500);
  EXPECT_LT(store->counters().bytes, 110'000);
  const absl::Status full = limiter.Check("b").status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), HasSubstr("max_bytes = 100000"));
  EXPECT_EQ(limiter.Peek("a")->remaining, 100'000 - allowed);
  ASSERT_TRUE(limiter.Reset("a").ok());
  EXPECT_EQ(store->counters().bytes, 0);
  EXPECT_TRUE(limiter.Check("b").ok());
}

TEST_F(MemoryStoreTest, WithoutBytesLeftItDecidesWhatAddsNothing) {
  MemoryStoreOptions options;
  options.clock = clock_;
  options.max_bytes = 10'000;
  options.stripes = 1;
  const auto store = *MemoryStore::Create(options);
  const auto named = [&](const char* name, Limit limit) {
    return *Limiter::Create(store, {Rule{name, std::move(limit)}});
  };
  const Limiter few = named("few", Limit::SlidingLog(5, hours(1)));
  ASSERT_TRUE(few.Check("spent", 5)->allowed);
  ASSERT_TRUE(few.Check("known", 4)->allowed);
  const Limiter many = With(store, Limit::SlidingLog(100'000, hours(1)));
  while (many.Check("a").ok()) {
  }
  const auto spent = few.Check("spent");
  ASSERT_TRUE(spent.ok()) << spent.status();
  EXPECT_FALSE(spent->allowed);
  EXPECT_EQ(*spent->retry_after, hours(1));
  for (const char* key : {"known", "unknown"}) {
    const auto never = few.Check(key, 6);
    ASSERT_TRUE(never.ok()) << never.status();
    EXPECT_TRUE(never->never());
  }
  const auto zero = named("none", Limit::SlidingLog(0, hours(1))).Check("k");
  ASSERT_TRUE(zero.ok()) << zero.status();
  EXPECT_TRUE(zero->never());
  // What would add is not decided, nor what counts though it is denied.
  EXPECT_FALSE(few.Check("known").ok());
  const Limiter counting = named(
      "counting", Limit::BucketedWindow(1, hours(1), std::chrono::minutes(1)));
  EXPECT_FALSE(counting.Check("known", 2).ok());
  EXPECT_EQ(few.Peek("known")->remaining, 1);
}

TEST_F(MemoryStoreTest, ALogTakesLittleMoreThanItsEvents) {
  const auto store = Make(0, 1);
  const Limiter limiter = With(store, Limit::SlidingLog(1'000'000, hours(1)));
  const auto bytes_with = [&](int events) {
    (void)limiter.Reset("key").status();
    for (int i = 0; i < events; ++i) {
      clock_->Advance(Micros(1));
      EXPECT_TRUE(limiter.Check("key").ok());
    }
    return store->counters().bytes;
  };
  const int64_t few = bytes_with(100);
  EXPECT_LE(few, 1'000);
  for (const int events : {1'000, 4'096, 10'000, 50'000}) {
    // A short log grows by sixteenths: up to half a byte an event stands empty.
    EXPECT_LE(bytes_with(events) - few, (events - 100) * 17 / 2) << events;
  }
}

TEST_F(MemoryStoreTest, TakesAnyPowerOfTwoOfStripes) {
  for (int stripes = 1; stripes <= 65'536; stripes *= 2) {
    const Limiter limiter = With(Make(0, stripes), Limit::Gcra(1, hours(1)));
    EXPECT_TRUE(limiter.Check("a")->allowed);
    EXPECT_FALSE(limiter.Check("a")->allowed);
    EXPECT_TRUE(limiter.Check("b")->allowed);
  }
}

TEST_F(MemoryStoreTest, ReadsItsOwnClockWhereNoneIsGiven) {
  const std::shared_ptr<MemoryStore> store = *MemoryStore::Create();
  const Time before = store->Now();
  EXPECT_GE(store->Now(), before);
  EXPECT_GT(ToMicros(before), 1'500'000'000'000'000);
  EXPECT_EQ(Make(0, 1)->Now(), clock_->Now());
}

// After a reading was taken, and before it is used, something happens.
class InterruptedClock final : public Clock {
 public:
  Time Now() const override {
    const Time now = now_;
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    return now;
  }
  void Advance(Micros by) { now_ += by; }

  mutable std::function<void()> meanwhile;

 private:
  Time now_ = TimeFromMicros(1'700'000'000'000'000);
};

// A call that is held up for longer than its key's state reaches does not take
// what others charged meanwhile for the doing of a clock that jumped.
TEST(MemoryStoreClockTest, AWaitIsNoJumpOfTheClock) {
  const auto window = std::chrono::milliseconds(1);
  for (const Limit& limit :
       {Limit::FixedWindow(5, window), Limit::SlidingWindowCounter(5, window),
        Limit::SlidingLog(5, window), Limit::SlidingLogList(5, window),
        Limit::WindowedTokenBucket(5, window, 5),
        Limit::Gcra(5, window).MaxWait(Micros(0))}) {
    SCOPED_TRACE(limit.algorithm());
    const auto clock = std::make_shared<InterruptedClock>();
    MemoryStoreOptions options;
    options.clock = clock;
    const Limiter limiter =
        *Limiter::Create(*MemoryStore::Create(options), limit);
    ASSERT_TRUE(limiter.Check("a")->allowed);
    bool drained = false;
    clock->meanwhile = [&] {
      clock->Advance(Micros(5'000));
      const std::string_view key = "a";
      const int64_t cost = 5;
      Call call;
      call.keys = absl::MakeConstSpan(&key, 1);
      call.costs = absl::MakeConstSpan(&cost, 1);
      call.now = clock->Now();
      drained = limiter.Check(call)->allowed;
    };
    // The logs read the clock under the lock: nobody comes after that, and
    // before the call is as late as others can.
    if (limit.algorithm().substr(0, 11) == "sliding_log") clock->Now();
    const std::string_view key = "a";
    EXPECT_FALSE(limiter.CheckMany({&key, 1})[0]->allowed);
    ASSERT_TRUE(drained);
    EXPECT_FALSE(limiter.Check("a")->allowed);
  }
}

TEST_F(MemoryStoreTest, AFullStoreDecidesForKnownKeysOnly) {
  constexpr int kMax = 100;
  const auto store = Make(kMax, 4);
  const Limiter limiter = With(store, Limit::Gcra(2, hours(1)));
  for (int i = 0; i < kMax; ++i) {
    ASSERT_TRUE(limiter.Check(Key(i)).ok());
  }
  const absl::StatusOr<Decision> d = limiter.Check("unknown");
  EXPECT_EQ(d.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(d.status().message()), HasSubstr("max_keys = 100"));
  EXPECT_EQ(store->counters().keys, kMax);
  EXPECT_EQ(store->counters().refused, 1);

  for (int i = 0; i < kMax; ++i) {
    ASSERT_TRUE(limiter.Check(Key(i))->allowed);
    ASSERT_FALSE(limiter.Check(Key(i))->allowed);
  }
  // What writes nothing needs no room.
  EXPECT_TRUE(limiter.Peek("unknown")->allowed);
  EXPECT_TRUE(limiter.Check("unknown", 0)->allowed);
  EXPECT_TRUE(limiter.Check("unknown", 3)->never());
  EXPECT_TRUE(limiter.Refund("unknown").ok());
  EXPECT_TRUE(limiter.Reset("unknown").ok());
  EXPECT_EQ(store->counters().refused, 1);
}

TEST_F(MemoryStoreTest, AKeyThatIsResetMakesRoom) {
  const auto store = Make(2, 1);
  const Limiter limiter = With(store, Limit::SlidingLog(2, hours(1)));
  ASSERT_TRUE(limiter.Check("a").ok());
  ASSERT_TRUE(limiter.Check("b").ok());
  ASSERT_FALSE(limiter.Check("c").ok());
  ASSERT_TRUE(limiter.Reset("a").ok());
  EXPECT_TRUE(limiter.Check("c").ok());
  ASSERT_FALSE(limiter.Check("a").ok());
  ASSERT_TRUE(limiter.Refund("b").ok());
  EXPECT_TRUE(limiter.Check("a").ok());
}

TEST_F(MemoryStoreTest, AFullStoreChargesNoRuleOfACall) {
  const auto store = Make(2, 4);
  std::vector<Rule> rules;
  rules.push_back(Rule{"one", Limit::Gcra(5, hours(1)), false, std::nullopt});
  rules.push_back(
      Rule{"two", Limit::SlidingLog(5, hours(1)), false, std::nullopt});
  const Limiter limiter = *Limiter::Create(store, rules);
  ASSERT_TRUE(limiter.Check("known").ok());  // a key for each rule
  const std::string_view keys[] = {"known", "unknown"};
  Call call;
  call.keys = keys;
  call.tag = "";
  EXPECT_EQ(limiter.Check(call).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(limiter.Peek("known")->remaining, 4);
  EXPECT_EQ(store->counters().keys, 2);
}

TEST_F(MemoryStoreTest, KeysThatEqualFreshOnesMakeRoom) {
  constexpr int kMax = 100;
  const auto store = Make(kMax, 4);
  const Limiter limiter = With(store, Limit::Gcra(1, seconds(1)));
  for (int i = 0; i < kMax; ++i) ASSERT_TRUE(limiter.Check(Key(i)).ok());
  ASSERT_FALSE(limiter.Check("early").ok());
  clock_->Advance(seconds(2));
  // A clock that could jump is believed after 32 calls that found no room.
  int refused = 0;
  while (refused < 32 && !limiter.Check("first").ok()) ++refused;
  ASSERT_LT(refused, 32);
  for (int i = 1; i < kMax; ++i) {
    // A call searches about 64 buckets; there are 128 at most.
    absl::StatusOr<Decision> d = limiter.Check("new" + Key(i));
    for (int again = 0; again < 4 && !d.ok(); ++again) {
      d = limiter.Check("new" + Key(i));
    }
    ASSERT_TRUE(d.ok()) << i << " " << d.status();
  }
  EXPECT_LE(store->counters().keys, kMax);
  EXPECT_GE(store->counters().expired, kMax);
}

TEST_F(MemoryStoreTest, ThreadsDoNotPassTheBoundOnKeysForAMoment) {
  const auto store = Make(8, 16);
  const Limiter limiter = With(store, Limit::Gcra(1, hours(1)));
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int n = 0; n < 3; ++n) {
    callers.emplace_back([&, n] {
      for (int i = 0; i < 20'000; ++i) {
        (void)limiter.Check(Key(n * 100 + i % 40)).ok();
      }
    });
  }
  int64_t most = 0;
  std::thread watcher([&] {
    while (!stop) most = std::max(most, store->counters().keys);
  });
  for (std::thread& caller : callers) caller.join();
  stop = true;
  watcher.join();
  EXPECT_LE(most, 8);
}

TEST_F(MemoryStoreTest, AHandlesCellCountsInTheBytes) {
  MemoryStoreOptions options;
  options.clock = clock_;
  options.max_bytes = 400;
  const auto store = *MemoryStore::Create(options);
  const Limiter limiter = With(store, Limit::Gcra(1, hours(1)));
  ASSERT_TRUE(limiter.Check("a").ok());
  const int64_t without = store->counters().bytes;
  {
    const BoundKey handle = *limiter.Bind("a");
    EXPECT_GE(store->counters().bytes, without + 64);
    const BoundKey another = *limiter.Bind("a");
    EXPECT_LT(store->counters().bytes, without + 128);
  }
  EXPECT_EQ(store->counters().bytes, without);
  // Where there is no room for a cell, there is no handle.
  std::vector<BoundKey> handles;
  absl::Status refused;
  for (int i = 0; i < 10 && refused.ok(); ++i) {
    absl::StatusOr<BoundKey> handle = limiter.Bind(Key(i));
    if (handle.ok()) {
      handles.push_back(*std::move(handle));
    } else {
      refused = handle.status();
    }
  }
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(limiter.Bind("a").status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(limiter.Check("a")->allowed);
  handles.clear();
  EXPECT_TRUE(limiter.Bind("a").ok());
}

TEST_F(MemoryStoreTest, NoBoundIsNoBound) {
  const auto store = Make(0, 1);
  const Limiter limiter = With(store, Limit::Gcra(1, hours(1)));
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(limiter.Check(Key(i)).ok());
  EXPECT_EQ(store->counters().keys, 20'000);
}

TEST_F(MemoryStoreTest, SweepRemovesWhatIsOverAndNothingElse) {
  const auto store = Make(0, 4);
  const Limiter brief = With(store, Limit::Gcra(1, seconds(1)));
  std::vector<Rule> rules;
  rules.push_back(
      Rule{"lasting", Limit::Gcra(1, hours(1)), false, std::nullopt});
  const Limiter lasting = *Limiter::Create(store, rules);
  constexpr int kKeys = 1'000;
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(brief.Check(Key(i)).ok());
    ASSERT_TRUE(lasting.Check(Key(i)).ok());
  }
  EXPECT_EQ(store->Sweep(), 0);
  EXPECT_EQ(store->Sweep(0, clock_->Now() + seconds(1)), kKeys);
  EXPECT_EQ(store->counters().keys, kKeys);
  EXPECT_EQ(store->counters().expired, kKeys);
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_FALSE(lasting.Check(Key(i))->allowed);
    ASSERT_TRUE(brief.Check(Key(i))->allowed);
  }
}

TEST_F(MemoryStoreTest, SweepMissesNothingWhileTheTableShrinks) {
  // Few enough are left for the table to shrink many times over.
  for (const int stripes : {1, 8}) {
    const auto store = Make(0, stripes);
    const Limiter limiter = With(store, Limit::Gcra(1, seconds(1)));
    for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(limiter.Check(Key(i)).ok());
    clock_->Advance(seconds(1));
    EXPECT_EQ(store->Sweep(), 10'000);
    EXPECT_EQ(store->counters().keys, 0);
  }
}

TEST_F(MemoryStoreTest, SweepByBudgetsComesToAnEnd) {
  const auto store = Make(0, 4);
  const Limiter limiter = With(store, Limit::Gcra(1, seconds(1)));
  constexpr int kKeys = 1'000;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(limiter.Check(Key(i)).ok());
  clock_->Advance(seconds(1));
  int64_t removed = 0;
  int sweeps = 0;
  for (; removed < kKeys && sweeps < kKeys; ++sweeps) {
    const int64_t now = store->Sweep(10);
    // A budget is entries examined; a bucket may hold a few.
    EXPECT_LE(now, 20);
    removed += now;
  }
  EXPECT_EQ(removed, kKeys);
  EXPECT_GE(sweeps, kKeys / 20);
}

TEST_F(MemoryStoreTest, KeysLeaveWithinTheStatedNumberOfCalls) {
  const auto store = Make(0, 1);
  const Limiter brief = With(store, Limit::Gcra(1, seconds(1)));
  std::vector<Rule> rules;
  rules.push_back(Rule{"busy", Limit::FixedWindow(1'000'000, hours(24)), false,
                       std::nullopt});
  const Limiter busy = *Limiter::Create(store, rules);
  constexpr int kKeys = 5'000;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(brief.Check(Key(i)).ok());
  ASSERT_TRUE(busy.Check("busy").ok());
  clock_->Advance(seconds(2));
  const int64_t entries = store->counters().keys;
  for (int64_t i = 512 + 32 * (entries + 16); i > 0; --i) {
    ASSERT_TRUE(busy.Check("busy")->allowed);
  }
  EXPECT_EQ(store->counters().keys, 1);
}

TEST_F(MemoryStoreTest, AClockThatJumpsAheadAndComesBackRefillsNobody) {
  const auto store = Make(0, 1);
  const Limiter limiter = With(store, Limit::Gcra(1, hours(1)));
  constexpr int kKeys = 100;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(limiter.Check(Key(i)).ok());
  const Time now = clock_->Now();
  for (int i = 0; i < 400; ++i) {
    // Now and then a reading from a year ahead.
    const bool ahead = i % 4 == 0;
    clock_->Set(ahead ? now + hours(24 * 365) : now);
    ASSERT_TRUE(limiter.Check("other" + Key(i)).ok());
  }
  clock_->Set(now);
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_FALSE(limiter.Check(Key(i))->allowed) << i;
  }
}

TEST_F(MemoryStoreTest, AClockBeyondAllTimesIsTakenForTheLastOne) {
  // As many parts of a microsecond as lie in one word with the time.
  const Limiter limiter = With(Make(0, 4), Limit::Gcra(255, Micros(1009)));
  const BoundKey handle = *limiter.Bind("bound");
  for (const int64_t us : {-(int64_t{1} << 62), int64_t{1} << 62}) {
    clock_->Set(TimeFromMicros(us));
    EXPECT_EQ(limiter.Check("key", 2)->remaining, 253);
    EXPECT_EQ(limiter.Check("key")->remaining, 252);
    EXPECT_EQ(handle.Check(2)->remaining(), 253);
  }
  // It left both in what is too far ahead to be true.
  clock_->Set(TimeFromMicros(0));
  EXPECT_EQ(limiter.Check("key")->remaining, 0);
  EXPECT_FALSE(handle.Check()->allowed());
}

TEST_F(MemoryStoreTest, AJumpOfTheClockOnAFullStoreRefillsNobody) {
  constexpr int kMax = 100;
  const auto store = Make(kMax, 1);
  const Limiter limiter = With(store, Limit::Gcra(1, hours(1)));
  for (int i = 0; i < kMax; ++i) ASSERT_TRUE(limiter.Check(Key(i)).ok());
  const Time now = clock_->Now();
  clock_->Set(now + hours(24 * 365));
  (void)limiter.Check("newcomer").status();
  clock_->Set(now);
  for (int i = 0; i < kMax; ++i) {
    const absl::StatusOr<Decision> d = limiter.Peek(Key(i));
    ASSERT_TRUE(d.ok());
    ASSERT_FALSE(d->allowed) << i;
  }
}

TEST_F(MemoryStoreTest, AFullStoreBelievesAClockOnceEnoughCallsAgree) {
  constexpr int kMax = 8;
  const auto store = Make(kMax, 1);
  const Limiter limiter = With(store, Limit::Gcra(1, hours(1)));
  for (int i = 0; i < kMax; ++i) ASSERT_TRUE(limiter.Check(Key(i)).ok());
  int newcomers = 0;
  const auto finds_room = [&] {
    return limiter.Check("new" + Key(newcomers++)).ok();
  };
  for (int i = 0; i < 16; ++i) ASSERT_FALSE(finds_room());
  clock_->Advance(hours(24 * 365));
  for (int i = 0; i < 15; ++i) ASSERT_FALSE(finds_room()) << i;
  bool believed = false;
  for (int i = 0; i < 17 && !believed; ++i) believed = finds_room();
  EXPECT_TRUE(believed);
}

TEST_F(MemoryStoreTest, AFloodOfKeysNeitherGrowsItNorRefillsADrainedKey) {
  constexpr int64_t kMax = 100'000;
  const auto store = Make(kMax, 64);
  const Limiter limiter = With(store, Limit::Gcra(3, hours(1)));
  ASSERT_TRUE(limiter.Check("attacker", 3)->allowed);
  const int64_t flood = testing::Rounds(300'000, 3'000'000);
  int64_t refused = 0;
  for (int64_t i = 0; i < flood; ++i) {
    if (!limiter.Check(Key(i)).ok()) ++refused;
    if (i % 4096 == 0) {
      ASSERT_LE(store->counters().keys, kMax);
      ASSERT_FALSE(limiter.Check("attacker")->allowed);
    }
  }
  EXPECT_EQ(store->counters().keys, kMax);
  EXPECT_EQ(refused, flood - (kMax - 1));
  EXPECT_EQ(store->counters().refused, refused);
}

TEST_F(MemoryStoreTest, AFloodOfShortLivedKeysIsOutrun) {
  const auto store = Make(0, 1);
  const Limiter limiter = With(store, Limit::Gcra(1, seconds(1)));
  int64_t most = 0;
  for (int64_t i = 0; i < 300'000; ++i) {
    // A thousand a second: about as many are not over at any time.
    clock_->Advance(Micros(1'000));
    ASSERT_TRUE(limiter.Check(Key(i)).ok());
    most = std::max(most, store->counters().keys);
  }
  EXPECT_LE(most, 5'000);
}

TEST_F(MemoryStoreTest, CountsAKeyOnceForEachRuleThatHoldsIt) {
  const auto store = Make(0, 4);
  std::vector<Rule> rules;
  rules.push_back(Rule{"one", Limit::Gcra(5, hours(1)), false, std::nullopt});
  rules.push_back(
      Rule{"two", Limit::SlidingLog(5, hours(1)), false, std::nullopt});
  const Limiter limiter = *Limiter::Create(store, rules);
  ASSERT_TRUE(limiter.Check("a").ok());
  EXPECT_EQ(store->counters().keys, 2);
  ASSERT_TRUE(limiter.Check("a").ok());
  EXPECT_EQ(store->counters().keys, 2);
}

TEST_F(MemoryStoreTest, AWaitForAFadingValueIsTrueWhateverWasAskedBefore) {
  // Whose quotients round one way at once, and the other way in two steps.
  const Limit limits[] = {
      Limit::Ar1(1.4240976183724845, 1.1, seconds(1)).CountDenied(false),
      Limit::Ar1(4, 1.000000000000013, Micros(1)).CountDenied(false)};
  const int64_t asked[] = {2'000'000, 76'742'811'062};
  for (int i = 0; i < 2; ++i) {
    const Limiter limiter = With(Make(100, 1), limits[i]);
    const std::string_view key = "k";
    int64_t cost = i == 0 ? 1 : 4;
    const auto at = [&](int64_t us) {
      Call call;
      call.keys = absl::MakeConstSpan(&key, 1);
      call.costs = absl::MakeConstSpan(&cost, 1);
      call.now = TimeFromMicros(us);
      return call;
    };
    ASSERT_TRUE(limiter.Check(at(0))->allowed);
    cost = 1;
    const Decision denied = *limiter.Check(at(asked[i]));
    ASSERT_FALSE(denied.allowed);
    const int64_t then = asked[i] + denied.retry_after->count();
    EXPECT_FALSE(limiter.Peek(at(then - 1))->allowed) << i;
    EXPECT_TRUE(limiter.Peek(at(then))->allowed) << i;
  }
}

TEST_F(MemoryStoreTest, WhatDeniedCallsAddMayFadeForEver) {
  // 7,000 slots of a century each.
  const Limiter limiter =
      With(Make(100, 1), Limit::Ar1(1e-17, 1.01, hours(24 * 36'500)));
  const std::string_view key = "k";
  Call call;
  call.keys = absl::MakeConstSpan(&key, 1);
  for (const int64_t us : {0, 1, 2}) {
    call.now = TimeFromMicros(us);
    const Decision d = *limiter.Check(call);
    EXPECT_TRUE(d.never());
    EXPECT_EQ(d.reset_after.count(), kMaxExact - us);
  }
  const int64_t nothing = 0;
  call.costs = absl::MakeConstSpan(&nothing, 1);
  EXPECT_FALSE(limiter.Check(call)->allowed);
}

// A log of so many entries takes megabytes; nobody frees them all.
class LongLogTest : public MemoryStoreTest {
 protected:
  static constexpr int64_t kPiece = 128 * 1024;
  static constexpr int kEntries = 300'000;

  Limiter Long(const std::shared_ptr<MemoryStore>& store, int log) const {
    constexpr auto kWindow = hours(1);
    Limiter limiter =
        log % 2 == 0 ? With(store, Limit::SlidingLog(1'000'000, kWindow))
                     : With(store, Limit::SlidingLogList(1'000'000, kWindow));
    for (int i = 0; i < kEntries; ++i) {
      EXPECT_TRUE(limiter.Check("long", log < 2 ? 1 : 3)->allowed);
    }
    EXPECT_GT(store->counters().bytes, kEntries * 8);
    clock_->Advance(hours(2));
    return limiter;
  }
  // Calls until what is counted is back at what a few keys take.
  template <class F>
  void ExpectGoneInPieces(const MemoryStore& store, F call) {
    int calls = 0;
    for (int64_t before = store.counters().bytes; before > kPiece; ++calls) {
      ASSERT_LT(calls, 2'000);
      call();
      const int64_t now = store.counters().bytes;
      ASSERT_LE(before - now, kPiece) << calls;
      before = now;
    }
    EXPECT_GT(calls, kEntries * 8 / kPiece);
  }
};

TEST_F(LongLogTest, LeavesInPiecesWithTheCallsOfOtherKeys) {
  for (int log = 0; log < 4; ++log) {
    SCOPED_TRACE(log);
    const auto store = Make(0, 1);
    const Limiter limiter = Long(store, log);
    ExpectGoneInPieces(*store, [&] { limiter.Check("other").IgnoreError(); });
    EXPECT_EQ(store->counters().keys, 1);
    EXPECT_EQ(store->counters().expired, 1);
  }
}

TEST_F(LongLogTest, LeavesInPiecesWithTheCallsOfItsOwnKey) {
  for (int log = 0; log < 4; ++log) {
    SCOPED_TRACE(log);
    const auto store = Make(0, 1);
    const Limiter limiter = Long(store, log);
    ExpectGoneInPieces(*store, [&] {
      EXPECT_TRUE(limiter.Check("long")->allowed);
      clock_->Advance(hours(2));
    });
    EXPECT_EQ(store->counters().keys, 1);
  }
}

TEST_F(LongLogTest, LeavesAtOnceWithASweepOrTheStore) {
  const auto store = Make(0, 1);
  const Limiter limiter = Long(store, 0);
  ASSERT_TRUE(limiter.Reset("long").ok());
  EXPECT_EQ(store->counters().keys, 0);
  EXPECT_GT(store->counters().bytes, kEntries * 7);
  // An entry of the budget is a piece.
  int64_t before = store->counters().bytes;
  store->Sweep(3);
  EXPECT_LT(store->counters().bytes, before);
  EXPECT_GE(store->counters().bytes, before - 3 * kPiece);
  store->Sweep();
  EXPECT_EQ(store->counters().bytes, 0);
  // What is left of this one goes with its store.
  ASSERT_TRUE(Long(Make(0, 1), 1).Reset("long").ok());
}

TEST_F(LongLogTest, MakesRoomAtOnce) {
  MemoryStoreOptions options;
  options.clock = clock_;
  options.stripes = 4;
  options.max_bytes = kEntries * 8;
  const auto store = *MemoryStore::Create(options);
  const Limiter limiter = With(store, Limit::SlidingLog(1'000'000, hours(1)));
  while (limiter.Check("long").ok()) {
  }
  clock_->Advance(hours(2));
  // A clock of the caller's own is believed once 32 calls agree.
  int calls = 0;
  while (!limiter.Check(Key(calls)).ok()) ASSERT_LE(++calls, 33);
  for (int i = 100; i < 300; ++i) ASSERT_TRUE(limiter.Check(Key(i)).ok()) << i;
  EXPECT_LE(store->counters().bytes, options.max_bytes);
}

// Also at the last time there is, where nothing fades any more.
TEST_F(MemoryStoreTest, AdmitsTheLimitAtTheEndOfTime) {
  for (const bool count_denied : {true, false}) {
    const Limiter limiter =
        With(Make(100, 1), Limit::Ar1(2, 7, std::chrono::milliseconds(200))
                               .CountDenied(count_denied));
    const BoundKey handle = *limiter.Bind("handle");
    clock_->Set(TimeFromMicros(kMaxExact));
    for (int i = 0; i < 10; ++i) {
      SCOPED_TRACE(i);
      const Decision d = *limiter.Check("key");
      const BoundDecision b = *handle.Check();
      EXPECT_EQ(d.allowed, i < 2);
      EXPECT_GT(d.reset_after.count(), 0);
      EXPECT_EQ(b.allowed(), d.allowed);
      EXPECT_EQ(b.reset_after(), d.reset_after);
      EXPECT_EQ(b.retry_after(), d.retry_after);
      EXPECT_EQ(d.allowed, d.retry_after->count() == 0);
      EXPECT_EQ(limiter.Peek("key")->remaining, std::max(0, 1 - i));
    }
    clock_->Set(TimeFromMicros(1'700'000'000'000'000));
  }
}

// A store of a user's own, at the earliest time that there is in a Time.
class FarStore final : public Store {
 public:
  explicit FarStore(std::shared_ptr<MemoryStore> store)
      : store_(std::move(store)) {}
  Time Now() const override { return Time::min(); }
  absl::StatusOr<std::shared_ptr<const StoreRule>> Attach(
      std::string_view name, const CompiledLimit& limit) override {
    return store_->Attach(name, limit);
  }
  absl::Status Run(Op op, std::optional<Time> now, const Step* steps,
                   Outcome* outcomes, size_t count) override {
    return store_->Run(op, now, steps, outcomes, count);
  }

 private:
  const std::shared_ptr<MemoryStore> store_;
};

TEST_F(MemoryStoreTest, AClockOutOfRangeRefusesNoLimit) {
  for (const EngineInfo* engine : Registry::BuiltIn().engines()) {
    for (const Limit& limit : testing::SampleLimits(engine->name)) {
      SCOPED_TRACE(engine->name);
      clock_->Set(Time::min());
      const auto store = Make(0, 1);
      EXPECT_EQ(ToMicros(store->Now()), -kMaxExact);
      EXPECT_TRUE(Limiter::Create(store, limit).ok());
      EXPECT_TRUE(
          Limiter::Create(std::make_shared<FarStore>(store), limit).ok());
      clock_->Set(Time::max());
      EXPECT_EQ(ToMicros(store->Now()), kMaxExact);
    }
  }
}

struct AsksAtExit {
  AsksAtExit() = default;
  ~AsksAtExit() {
    const FarStore store(nullptr);
    if (store.WaitingClock().Now() < TimeFromMicros(0)) std::abort();
  }
};

// Seen by the address sanitizer.
TEST_F(MemoryStoreTest, TheClockOfAWaitOutlivesMain) {
  const auto leave = [] {
    // Made first, it goes last.
    static const AsksAtExit asks;
    const FarStore store(nullptr);
    store.WaitingClock().Now();
    std::exit(0);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(0), "");
}

TEST_F(MemoryStoreTest, StateBelongsToRuleNameAlgorithmAndKey) {
  const auto store = Make(0, 4);
  const auto named = [&](const char* name, Limit limit) {
    std::vector<Rule> rules;
    rules.push_back(Rule{name, std::move(limit), false, std::nullopt});
    return *Limiter::Create(store, rules);
  };
  const Limiter first = named("api", Limit::Gcra(1, hours(1)));
  const Limiter alike = named("api", Limit::Gcra(1, hours(1)));
  const Limiter other_name = named("api2", Limit::Gcra(1, hours(1)));
  const Limiter other_kind = named("api", Limit::SlidingLog(1, hours(1)));
  const Limiter other_alias = named("api", Limit::LeakyBucket(1, 1, hours(1)));
  EXPECT_TRUE(first.Check("a")->allowed);
  EXPECT_FALSE(alike.Check("a")->allowed);
  EXPECT_TRUE(other_name.Check("a")->allowed);
  EXPECT_TRUE(other_kind.Check("a")->allowed);
  EXPECT_TRUE(other_alias.Check("a")->allowed);
  EXPECT_FALSE(first.Check("a")->allowed);
}

TEST_F(MemoryStoreTest, TwoStoresShareNothing) {
  const Limiter one = With(Make(0, 4), Limit::Gcra(1, hours(1)));
  const Limiter two = With(Make(0, 4), Limit::Gcra(1, hours(1)));
  EXPECT_TRUE(one.Check("a")->allowed);
  EXPECT_TRUE(two.Check("a")->allowed);
}

}  // namespace
}  // namespace weir
