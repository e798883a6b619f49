// What a call throws on its way (no memory; a clock, an engine or a resolver of
// the user's own) leaves everything usable. A lock that stayed behind shows as
// a test that does not end.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/allocations.h"
#include "tests/clocked_store.h"
#include "weir/bound_key.h"
#include "weir/registry.h"
#include "weir/testing/engine_samples.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

using std::chrono::hours;

// 0: nothing throws; else the nth of the user's functions that is called.
int throws_in = 0;

void MayThrow() {
  if (throws_in > 0 && --throws_in == 0) throw std::runtime_error("mine");
}

// fixed_window as an engine of the user's own, which may throw.
const EngineOps<Txn>& Right() {
  return Registry::BuiltIn().Find("fixed_window")->ops;
}

const Registry& ThrowingRegistry() {
  static const Registry* const registry = [] {
    auto* info = new EngineInfo(*Registry::BuiltIn().Find("fixed_window"));
    info->name = "throws";
    info->ops.admits = [](Txn& txn, const StepArgs& args) {
      MayThrow();
      return Right().admits(txn, args);
    };
    info->ops.apply = [](Txn& txn, const StepArgs& args, Action action) {
      MayThrow();
      return Right().apply(txn, args, action);
    };
    info->ops.check = [](Txn& txn, const StepArgs& args, bool count_denied,
                         bool* allowed) {
      MayThrow();
      return Right().check(txn, args, count_denied, allowed);
    };
    auto* made = new Registry(Registry::BuiltIn());
    EXPECT_TRUE(made->Add(*info).ok());
    return made;
  }();
  return *registry;
}

class ThrowingClock final : public Clock {
 public:
  Time Now() const override {
    MayThrow();
    return TimeFromMicros(1'700'000'000'000'000);
  }
};

std::vector<std::string> Keys() {
  std::vector<std::string> keys;
  for (int i = 0; i < 300; ++i) keys.push_back("key" + std::to_string(i));
  return keys;
}

// Makes the call throw at each of the user's functions in turn; between, every
// key must be decided.
void ThrowEverywhere(const Limiter& limiter,
                     const std::function<void()>& call) {
  int thrown = 0;
  for (int n = 1; n < 100; ++n) {
    throws_in = n;
    try {
      call();
      break;
    } catch (const std::runtime_error&) {
      ++thrown;
    }
    for (const std::string& key : Keys()) {
      ASSERT_TRUE(limiter.Check(key, 0).ok());
    }
  }
  throws_in = 0;
  EXPECT_GT(thrown, 0);
}

class ThrowTest : public ClockedStore {
 protected:
  std::shared_ptr<MemoryStore> OneStripe() const {
    MemoryStoreOptions options;
    options.clock = clock_;
    options.stripes = 1;
    return *MemoryStore::Create(options);
  }
  static LimiterOptions Throwing() {
    LimiterOptions options;
    options.registry = &ThrowingRegistry();
    return options;
  }
  static Limit Throws() {
    return Limit::Of("throws")
        .With("limit", int64_t{1000})
        .With("window", Micros(hours(1)));
  }
};

TEST_F(ThrowTest, AnEngineLeavesNoLock) {
  const Limiter one = *Limiter::Create(store_, Throws(), Throwing());
  ThrowEverywhere(one, [&] { one.Check("key1").IgnoreError(); });
  ThrowEverywhere(one, [&] { one.Refund("key1").IgnoreError(); });
  const std::vector<Rule> rules = {
      {"first", Limit::FixedWindow(1000, hours(1))}, {"second", Throws()}};
  const Limiter two = *Limiter::Create(store_, rules, Throwing());
  ThrowEverywhere(two, [&] { two.Check("key1").IgnoreError(); });
  ThrowEverywhere(two, [&] { two.Peek("key1").IgnoreError(); });
  // Beside a rule whose key is bound.
  const Limiter first =
      *Limiter::Create(store_, std::vector<Rule>{rules[0]}, Throwing());
  const BoundKey handle = *first.Bind("key1");
  ThrowEverywhere(two, [&] { two.Check("key1").IgnoreError(); });
  EXPECT_TRUE(handle.Check()->allowed());
}

TEST_F(ThrowTest, AClockLeavesNoLock) {
  MemoryStoreOptions options;
  options.clock = std::make_shared<ThrowingClock>();
  const auto store = *MemoryStore::Create(options);
  const std::vector<Rule> rules = {{"first", Limit::Gcra(1000, hours(1))},
                                   {"log", Limit::SlidingLog(1000, hours(1))}};
  const Limiter one = *Limiter::Create(store, std::vector<Rule>{rules[0]}, {});
  const Limiter two = *Limiter::Create(store, rules, {});
  const std::vector<std::string_view> batch = {"key1", "new", "key2"};
  const BoundKey handle = *one.Bind("key3");
  ThrowEverywhere(one, [&] { one.Check("key1").IgnoreError(); });
  ThrowEverywhere(one, [&] { one.CheckMany(batch); });
  ThrowEverywhere(one, [&] { handle.Check().IgnoreError(); });
  ThrowEverywhere(one, [&] { one.Bind("key4").IgnoreError(); });
  ThrowEverywhere(two, [&] { two.Check("key1").IgnoreError(); });
  ThrowEverywhere(two, [&] { store->Sweep(); });
}

// Each reading is a tenth of a second later; the nth throws, and, if it is
// `broken`, all that follow.
class FailingClock final : public Clock {
 public:
  Time Now() const override {
    if (left > 0 && --left == 0) {
      if (broken) left = 1;
      throw std::runtime_error("mine");
    }
    now += std::chrono::milliseconds(100);
    return now;
  }
  void WaitUntil(Time, std::condition_variable&,
                 std::unique_lock<std::mutex>&) const override {}

  bool broken = false;
  mutable int left = 0;  // 0: it does not throw
  mutable Time now = TimeFromMicros(1'700'000'000'000'000);
};

TEST_F(ThrowTest, AClockThatFailsDuringAWaitGivesTheTurnBack) {
  MemoryStoreOptions options;
  const auto clock = std::make_shared<FailingClock>();
  options.clock = clock;
  const auto store = *MemoryStore::Create(options);
  const Limiter limiter =
      *Limiter::Create(store, Limit::Gcra(1, std::chrono::seconds(1)));
  for (const bool broken : {false, true}) {
    clock->broken = broken;
    bool thrown = true;
    for (int n = 1; thrown; ++n) {
      const std::string key = std::to_string(broken) + std::to_string(n);
      ASSERT_TRUE(limiter.Check(key)->allowed);
      const Time fresh = clock->now + std::chrono::seconds(1);
      clock->left = n;
      thrown = false;
      try {
        limiter.Acquire(key, 1, std::chrono::seconds(2)).IgnoreError();
      } catch (const std::runtime_error&) {
        thrown = true;
      }
      clock->left = 0;
      if (!thrown) {
        EXPECT_GT(n, 5);
        continue;
      }
      const std::string_view view = key;
      Call call;
      call.keys = {&view, 1};
      call.now = fresh + std::chrono::milliseconds(500);
      EXPECT_EQ(limiter.Peek(call)->reset_after, Micros(0)) << n;
    }
  }
}

TEST_F(ThrowTest, AResolverOfPlansLeavesNoLock) {
  Rule rule = {"api", Limit::FixedWindow(3, hours(1))};
  rule.plans = {Limit::FixedWindow(1, hours(1))};
  rule.plan_of = [](std::string_view) {
    MayThrow();
    return 0;
  };
  const Limiter limiter = *Limiter::Create(store_, std::vector<Rule>{rule});
  ThrowEverywhere(limiter, [&] { limiter.Check("key1").IgnoreError(); });
  ThrowEverywhere(limiter,
                  [&] { limiter.Acquire("key1", 1, Micros(0)).IgnoreError(); });
  Cancellation cancel;
  ThrowEverywhere(limiter, [&] {
    limiter.Acquire("key1", 1, Micros(0), &cancel).IgnoreError();
  });
  cancel.Cancel();
}

// A function of a key that throws at one of several calls, whatever their
// times.
TEST_F(ThrowTest, AFunctionOfAKeyThrowsBeforeAnythingIsCharged) {
  const auto expect_none_charged = [&](Rule rule,
                                       const LimiterOptions& options) {
    const Limiter limiter =
        *Limiter::Create(store_, std::vector<Rule>{std::move(rule)}, options);
    const std::string_view key = "key1";
    Call calls[3];
    for (int i = 0; i < 3; ++i) {
      calls[i].keys = absl::MakeConstSpan(&key, 1);
      calls[i].now = TimeFromMicros(1'700'000'000'000'000 + i);
    }
    ThrowEverywhere(limiter, [&] {
      EXPECT_EQ(limiter.Peek(calls[2])->remaining, 3);
      limiter.CheckMany(absl::MakeConstSpan(calls));
    });
    EXPECT_EQ(limiter.Peek(calls[2])->remaining, 0);
  };
  Rule rule = {"plan", Limit::FixedWindow(5, hours(1))};
  rule.plans = {Limit::FixedWindow(3, hours(1))};
  rule.plan_of = [](std::string_view) {
    MayThrow();
    return 0;
  };
  expect_none_charged(rule, {});
  LimiterOptions options;
  options.tag_of = [](std::string_view key) {
    MayThrow();
    return key.substr(0, 1);
  };
  expect_none_charged({"tag", Limit::FixedWindow(3, hours(1))}, options);
}

// Lets each allocation of the call fail in turn; `between` must find everything
// in order. The call itself comes off in the end.
void FailEverywhere(const std::function<void()>& call,
                    const std::function<void()>& between) {
  for (int n = 1;; ++n) {
    ASSERT_LT(n, 10'000);
    bool thrown = false;
    {
      const FailingAllocation failing(n);
      try {
        call();
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      if (!thrown && !failing.failed()) break;
    }
    ASSERT_NO_FATAL_FAILURE(between()) << "after allocation " << n;
  }
  between();
}

TEST_F(ThrowTest, AnUpdateWithoutMemoryLeavesTheRules) {
  Limiter limiter = Make(Limit::Gcra(10, hours(1)));
  const BoundKey handle = *limiter.Bind("a");
  for (int64_t limit = 11; limit < 14; ++limit) {
    FailEverywhere(
        [&] { limiter.Update(Limit::Gcra(limit, hours(1))).IgnoreError(); },
        [&] {
          ASSERT_EQ(limiter.rules().size(), 1U);
          ASSERT_EQ(limiter.rules()[0].name, "default");
          const Decision d = *limiter.Peek("a");
          ASSERT_TRUE(d.limit == limit || d.limit == limit - 1);
        });
    FailEverywhere([&] { handle.Check(0).IgnoreError(); },
                   [&] { ASSERT_EQ(handle.Check(0)->limit(), limit); });
  }
}

TEST_F(ThrowTest, AHandleWithoutMemoryLeavesNothingBehind) {
  const auto store = OneStripe();
  const Limiter limiter = *Limiter::Create(store, Limit::Gcra(10, hours(1)));
  ASSERT_TRUE(limiter.Check("known", 3)->allowed);
  const MemoryStore::Counters before = store->counters();
  // Beside a key of its size the table has room for the other one.
  for (const char* key : {"known", "other"}) {
    FailEverywhere([&] { limiter.Bind(key).IgnoreError(); },
                   [&] {
                     ASSERT_EQ(store->counters().keys, before.keys);
                     ASSERT_EQ(store->counters().bytes, before.bytes);
                     ASSERT_EQ(limiter.Peek("known")->remaining, 7);
                   });
  }
}

TEST_F(ThrowTest, ANewKeyWithoutMemoryLeavesNothingBehind) {
  const auto store = OneStripe();
  // The table has room for none of these sizes.
  for (size_t size = 1; size < 100; size += 8) {
    const std::string key(size, 'k');
    const Limiter limiter = *Limiter::Create(
        store, std::vector<Rule>{{"of " + key, Limit::Gcra(10, hours(1))}});
    int failures = 0;
    FailEverywhere([&] { limiter.Check(key).IgnoreError(); },
                   [&] {
                     if (store->counters().keys == 1) return;
                     ASSERT_EQ(store->counters().keys, 0);
                     ASSERT_EQ(store->counters().bytes, 0);
                     ++failures;
                   });
    ASSERT_GT(failures, 1);
    ASSERT_EQ(limiter.Peek(key)->remaining, 9);
    ASSERT_EQ(limiter.Reset(key)->remaining, 10);
  }
  // What an entry holds of its limit is not held for ever.
  EXPECT_LE(store->counters().limits, 8);
}

TEST_F(ThrowTest, ALogWithoutMemoryKeepsItsSums) {
  testing::Rng rng = testing::TestRng();
  for (const auto make : {&Limit::SlidingLog, &Limit::SlidingLogList}) {
    const auto store = OneStripe();
    const Limiter limiter =
        *Limiter::Create(store, make(1'000'000, Micros(100'000'001)));
    // (when, cost), and what of them is inside.
    std::deque<std::pair<int64_t, int64_t>> inside;
    int64_t used = 0;
    const std::string_view key = "k";
    for (int64_t i = 0; i < 400; ++i) {
      // Fast at first, and so slow in the end that nearly all of it leaves.
      const int64_t t = 1'700'000'000'000'000 + i * 100'000 +
                        (i > 200 ? (i - 200) * 2'000'000 : 0);
      while (!inside.empty() && inside.front().first < t - 100'000'000) {
        used -= inside.front().second;
        inside.pop_front();
      }
      // Mostly of cost 1, so that both forms come, and go.
      const int64_t cost = rng.Next() % 20 == 0 ? 1 + rng.Next() % 3 : 1;
      Call call;
      call.keys = absl::MakeConstSpan(&key, 1);
      call.costs = absl::MakeConstSpan(&cost, 1);
      call.now = TimeFromMicros(t);
      FailEverywhere([&] { limiter.Check(call).IgnoreError(); },
                     [&] {
                       const int64_t left = limiter.Peek(call)->remaining;
                       if (left == 1'000'000 - used - cost) {
                         used += cost;
                         inside.emplace_back(t, cost);
                       }
                       ASSERT_EQ(left, 1'000'000 - used) << i;
                     });
    }
  }
}

// Slots that grow in place, one alone and several.
TEST_F(ThrowTest, ABucketWithoutMemoryKeepsItsUse) {
  testing::Rng rng = testing::TestRng();
  for (const bool count_denied : {true, false}) {
    const auto store = OneStripe();
    const Limiter limiter = *Limiter::Create(
        store, Limit::BucketedWindow(1'000'000, hours(1000), hours(1))
                   .CountDenied(count_denied));
    int64_t used = 0;
    for (int64_t i = 0; i < 200; ++i) {
      if (i % 40 == 39) clock_->Advance(hours(1));
      const int64_t cost = rng.OneIn(3) ? rng.Uniform(2, 9) : 1;
      FailEverywhere([&] { limiter.Check("k", cost).IgnoreError(); },
                     [&] {
                       const int64_t left = limiter.Peek("k")->remaining;
                       if (left == 1'000'000 - used - cost) used += cost;
                       ASSERT_EQ(left, 1'000'000 - used) << i;
                     });
      ASSERT_FALSE(HasFatalFailure());
    }
    // Given back in part, it stays in its place too.
    while (used > 10) {
      const int64_t back = rng.Uniform(1, 9);
      FailEverywhere([&] { limiter.Refund("k", back).IgnoreError(); },
                     [&] {
                       const int64_t left = limiter.Peek("k")->remaining;
                       if (left == 1'000'000 - used + back) used -= back;
                       ASSERT_EQ(left, 1'000'000 - used);
                     });
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

// The states of these two have different forms.
Limit Packed() { return Limit::Gcra(10, hours(1)); }
Limit Whole() { return Limit::Gcra(1009, hours(1)); }

TEST_F(ThrowTest, AnotherFormWithoutMemoryLeavesTheState) {
  const auto store = OneStripe();
  Limiter limiter = *Limiter::Create(store, Packed());
  ASSERT_TRUE(limiter.Check("known", 3)->allowed);
  int64_t used = 3;
  for (int i = 0; i < 4; ++i) {
    const bool whole = i % 2 == 0;
    const int64_t capacity = whole ? 1009 : 10;
    ASSERT_TRUE(limiter.Update(whole ? Whole() : Packed()).ok());
    int failures = 0;
    FailEverywhere([&] { limiter.Check("known").IgnoreError(); },
                   [&] {
                     if (limiter.Peek("known")->remaining != capacity - used) {
                       return;
                     }
                     ASSERT_EQ(store->counters().keys, 1);
                     ++failures;
                   });
    // Both arrays are there from the third time on.
    ASSERT_GE(failures, i < 1 ? 2 : 0);
    ASSERT_EQ(limiter.Peek("known")->remaining, capacity - ++used);
  }
  ASSERT_EQ(limiter.Reset("known")->remaining, 10);
  EXPECT_EQ(store->counters().bytes, 0);
}

TEST_F(ThrowTest, AHandleThatGoesWithoutMemoryLeavesItsState) {
  const auto store = OneStripe();
  Limiter limiter = *Limiter::Create(store, Packed());
  std::optional<BoundKey> handle = *limiter.Bind("known");
  ASSERT_TRUE(handle->Check(3)->allowed());
  ASSERT_TRUE(limiter.Update(Whole()).ok());
  ASSERT_EQ(handle->Check()->remaining(), 1005);
  {
    const FailingAllocation failing(1);
    handle.reset();
    ASSERT_TRUE(failing.failed());
  }
  ASSERT_EQ(limiter.Check("known")->remaining, 1004);
  handle = *limiter.Bind("known");
  ASSERT_EQ(handle->Check()->remaining(), 1003);
  handle.reset();
  ASSERT_EQ(limiter.Check("known")->remaining, 1002);
  ASSERT_EQ(store->counters().keys, 1);
  ASSERT_TRUE(limiter.Reset("known").ok());
  EXPECT_EQ(store->counters().bytes, 0);
  // One whose handle went that way, and none came after it.
  handle = *limiter.Bind("left");
  ASSERT_TRUE(limiter.Update(Packed()).ok());
  ASSERT_TRUE(handle->Check()->allowed());
  const FailingAllocation failing(1);
  handle.reset();
}

TEST_F(ThrowTest, AWaitWithoutMemoryLeavesTheRoom) {
  Limiter limiter = Make(Limit::FixedWindow(1, hours(1)));
  ASSERT_TRUE(limiter.Check("a")->allowed);
  Cancellation cancel;
  FailEverywhere(
      [&] { limiter.Acquire("a", 1, Micros(0), &cancel).IgnoreError(); },
      [&] {
        // Everybody in the room is woken.
        ASSERT_TRUE(limiter.Update(Limit::FixedWindow(1, hours(1))).ok());
        ASSERT_FALSE(limiter.Acquire("a", 1, Micros(0))->allowed);
      });
  cancel.Cancel();
}

// Whatever the engine and the cost. A log grows now and then, by a sixteenth.
TEST_F(ThrowTest, AKnownKeyTakesNoMemory) {
  // These admit all of it.
  std::vector<Limit> limits = {
      Limit::SlidingLog(5'000, hours(1)),
      Limit::SlidingLogList(5'000, hours(1)),
      Limit::BucketedWindow(5'000, hours(1), std::chrono::minutes(1))};
  for (const EngineInfo* engine : Registry::BuiltIn().engines()) {
    for (const Limit& limit : testing::SampleLimits(engine->name)) {
      limits.push_back(limit);
    }
  }
  for (const Limit& limit : limits) {
    for (const int64_t cost : {1, 3}) {
      SCOPED_TRACE(::testing::Message() << limit.algorithm() << ", " << cost);
      const Limiter limiter = *Limiter::Create(OneStripe(), limit);
      const auto allocations = [](const std::function<void()>& call) {
        const int64_t before = Allocations();
        for (int i = 0; i < 100; ++i) call();
        return Allocations() - before;
      };
      const auto check = [&] { limiter.Check("k", cost).IgnoreError(); };
      const auto peek = [&] { limiter.Peek("k", cost).IgnoreError(); };
      for (int i = 0; i < 200; ++i) check();
      EXPECT_LE(allocations(check), 20);
      EXPECT_EQ(allocations(peek), 0);
    }
  }
}

// A program that goes through its settings for ever does not grow.
TEST_F(ThrowTest, RulesThatComeAgainTakeNoMemory) {
  std::vector<Rule> rules = {{"one", Limit::Gcra(10, hours(1))},
                             {"two", Limit::FixedWindow(10, hours(1))}};
  Limiter two = *Limiter::Create(store_, rules);
  Limiter one = Make(Limit::Gcra(10, hours(1)));
  const BoundKey handle = *one.Bind("a");
  const BoundKey by_key = *two.Bind("a");
  const auto round = [&](int64_t i) {
    ASSERT_TRUE(one.Update(Limit::Gcra(10 + i % 3, hours(1))).ok());
    rules[0].observe = i % 2 == 1;
    rules[1].limit = Limit::FixedWindow(10 + i % 3, hours(1));
    ASSERT_TRUE(two.Update(rules).ok());
    ASSERT_EQ(handle.Check(0)->limit(), 10 + i % 3);
    ASSERT_TRUE(by_key.Check(0).ok());
    ASSERT_EQ(two.rules()[0].observe, i % 2 == 1);
  };
  for (int64_t i = 0; i < 6; ++i) round(i);
  const int64_t live = LiveAllocations();
  for (int64_t i = 0; i < 6'000; ++i) round(i);
  EXPECT_EQ(LiveAllocations(), live);
}

}  // namespace
}  // namespace weir
