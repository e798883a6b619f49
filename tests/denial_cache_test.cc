// Denials that a limiter repeats without asking its store.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/distant_store.h"
#include "weir/bound_key.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class DenialCacheTest : public ::testing::Test {
 protected:
  static MemoryStoreOptions On(std::shared_ptr<Clock> clock) {
    MemoryStoreOptions options;
    options.clock = std::move(clock);
    return options;
  }
  Limiter Make(std::vector<Rule> rules, size_t keys = 1'000,
               OutagePolicy policy = {}) {
    LimiterOptions options;
    options.denial_cache_keys = keys;
    options.outage = std::move(policy);
    auto limiter = Limiter::Create(store_, std::move(rules), options);
    EXPECT_TRUE(limiter.ok()) << limiter.status();
    return *std::move(limiter);
  }
  Limiter Make(Limit limit) {
    return Make(std::vector<Rule>{{"r", std::move(limit)}});
  }
  // How many calls the store has got since it was last asked for.
  int Asked() { return store_->calls.exchange(0); }

  const std::shared_ptr<ManualClock> clock_ =
      std::make_shared<ManualClock>(TimeFromMicros(1'000'000));
  const std::shared_ptr<DistantStore> store_ =
      std::make_shared<DistantStore>(*MemoryStore::Create(On(clock_)));
};

TEST_F(DenialCacheTest, RepeatsADenialUntilItsWaitIsOver) {
  const Limiter limiter = Make(Limit::Gcra(2, seconds(2)));
  EXPECT_TRUE(limiter.Check("k", 2)->allowed);
  const Decision told = *limiter.Check("k");
  EXPECT_EQ(told.source, Source::kStore);
  EXPECT_EQ(told.retry_after, Micros(1'000'000));
  EXPECT_EQ(Asked(), 2);

  clock_->Advance(milliseconds(600));
  const auto handle = limiter.Bind("k");
  EXPECT_EQ(handle->Check()->retry_after(), Micros(400'000));
  EXPECT_EQ(limiter.CheckMany({"k"})[0]->source, Source::kDenialCache);
  limiter.CheckAsync(std::string("k"), 1, [](absl::StatusOr<Decision> d) {
    EXPECT_EQ(d->source, Source::kDenialCache);
  });
  const Decision again = *limiter.Check("k");
  EXPECT_EQ(again.source, Source::kDenialCache);
  EXPECT_FALSE(again.allowed);
  EXPECT_EQ(again.retry_after, Micros(400'000));
  EXPECT_EQ(again.reset_after, Micros(1'400'000));
  EXPECT_EQ(again.rules()[0].retry_after, Micros(400'000));
  EXPECT_EQ(again.rules()[0].name, "r");
  EXPECT_EQ(Asked(), 0);

  EXPECT_TRUE(limiter.Check("other")->allowed);
  clock_->Advance(milliseconds(400));
  const Decision passed = *limiter.Check("k");
  EXPECT_TRUE(passed.allowed);
  EXPECT_EQ(passed.source, Source::kStore);
}

// The key drains by its old limit, the wait is told by the new one.
TEST_F(DenialCacheTest, RepeatsNoneForLongOnceALimitWasReplaced) {
  Limiter limiter = Make(Limit::SlidingLog(1, hours(24)));
  ASSERT_TRUE(limiter.Check("k")->allowed);
  ASSERT_TRUE(limiter.Update(Limit::SlidingLog(1, hours(23))).ok());
  clock_->Advance(hours(22));
  EXPECT_EQ(limiter.Check("k")->source, Source::kStore);
  EXPECT_EQ(limiter.Check("k")->source, Source::kDenialCache);
  clock_->Advance(seconds(1));
  EXPECT_EQ(limiter.Check("k")->source, Source::kStore);
  clock_->Advance(hours(2));
  EXPECT_TRUE(limiter.Check("k")->allowed);
}

TEST_F(DenialCacheTest, RepeatsNoneWhenTheClockWasSetBack) {
  const Limiter limiter = Make(Limit::Gcra(1, seconds(1)));
  clock_->Advance(hours(24));
  ASSERT_TRUE(limiter.Check("k")->allowed);
  ASSERT_FALSE(limiter.Check("k")->allowed);
  clock_->Set(TimeFromMicros(1'000'000));
  const Decision d = *limiter.Check("k");
  EXPECT_EQ(d.source, Source::kStore);
  EXPECT_EQ(d.retry_after, seconds(1));
}

TEST_F(DenialCacheTest, IsHeldALittleShorterThanTold) {
  const Limiter limiter = Make(Limit::FixedWindow(1, hours(1)));
  EXPECT_TRUE(limiter.Check("k")->allowed);
  EXPECT_FALSE(limiter.Check("k")->allowed);
  Asked();
  clock_->Advance(hours(1) - seconds(1));
  EXPECT_EQ(limiter.Check("k")->source, Source::kDenialCache);
  clock_->Advance(milliseconds(900));
  EXPECT_EQ(limiter.Check("k")->source, Source::kStore);
  EXPECT_EQ(Asked(), 1);
}

TEST_F(DenialCacheTest, HoldsForCostsThatAreNotLower) {
  const Limiter limiter = Make(Limit::FixedWindow(10, hours(1)));
  EXPECT_TRUE(limiter.Check("k", 5)->allowed);
  EXPECT_FALSE(limiter.Check("k", 7)->allowed);
  Asked();
  EXPECT_EQ(limiter.Check("k", 8)->source, Source::kDenialCache);
  EXPECT_EQ(Asked(), 0);
  EXPECT_TRUE(limiter.Check("k", 3)->allowed);
  EXPECT_FALSE(limiter.Check("k", 6)->allowed);
  EXPECT_EQ(Asked(), 2);
  EXPECT_EQ(limiter.Check("k", 7)->source, Source::kDenialCache);
  // It waits for ever, which no earlier denial said.
  EXPECT_TRUE(limiter.Check("k", 11)->never());
  EXPECT_EQ(Asked(), 1);
}

TEST_F(DenialCacheTest, IsNoAnswerToOtherQuestions) {
  const Limiter limiter = Make(Limit::FixedWindow(1, hours(1)));
  EXPECT_TRUE(limiter.Check("k")->allowed);
  EXPECT_FALSE(limiter.Check("k")->allowed);
  Asked();
  EXPECT_EQ(limiter.Peek("k")->source, Source::kStore);
  EXPECT_TRUE(limiter.Check("k", 0)->allowed);
  const std::string_view key = "k";
  Call later;
  later.keys = absl::MakeConstSpan(&key, 1);
  later.now = clock_->Now() + hours(2);
  EXPECT_TRUE(limiter.Check(later)->allowed);
  EXPECT_EQ(Asked(), 3);
}

TEST_F(DenialCacheTest, WhatThisLimiterGivesBackIsSeenAtOnce) {
  const auto deny = [&](const Limiter& limiter) {
    limiter.Check("k").value();
    EXPECT_FALSE(limiter.Check("k")->allowed);
    EXPECT_EQ(limiter.Check("k")->source, Source::kDenialCache);
  };
  Limiter limiter = Make(Limit::Gcra(1, hours(1)));
  deny(limiter);
  ASSERT_TRUE(limiter.Reset("k").ok());
  EXPECT_TRUE(limiter.Check("k")->allowed);
  deny(limiter);
  ASSERT_TRUE(limiter.Refund("k").ok());
  EXPECT_TRUE(limiter.Check("k")->allowed);
  deny(limiter);
  ASSERT_TRUE(limiter.Update(Limit::Gcra(1'000, hours(1))).ok());
  EXPECT_EQ(limiter.Check("k")->source, Source::kStore);

  const Limiter reserving = Make(Limit::Gcra(1, hours(1)).MaxWait(hours(2)));
  ASSERT_TRUE(reserving.Reset("k").ok());
  auto taken = reserving.Reserve("k", 1, hours(2));
  ASSERT_TRUE(taken.ok() && taken->reserved()) << taken.status();
  deny(reserving);
  ASSERT_TRUE(taken->Cancel().ok());
  EXPECT_EQ(reserving.Check("k")->source, Source::kStore);
}

TEST_F(DenialCacheTest, KeysOfSeveralRulesHangTogether) {
  const Limiter limiter = Make({{"host", Limit::FixedWindow(1, hours(1))},
                                {"user", Limit::FixedWindow(9, hours(1))}});
  const auto call = [&](Op op, std::string_view host, std::string_view user) {
    const std::string_view keys[] = {host, user};
    Call c;
    c.keys = keys;
    c.tag = "h";
    return limiter.Run(op, c).value();
  };
  EXPECT_TRUE(call(Op::kCheck, "h", "h/a").allowed);
  EXPECT_FALSE(call(Op::kCheck, "h", "h/a").allowed);
  EXPECT_EQ(call(Op::kCheck, "h", "h/a").source, Source::kDenialCache);
  EXPECT_EQ(call(Op::kCheck, "h", "h/b").source, Source::kStore);
  // Another's reset of the host concerns a too.
  call(Op::kReset, "h", "h/b");
  EXPECT_TRUE(call(Op::kCheck, "h", "h/a").allowed);
}

TEST_F(DenialCacheTest, AnotherPlanIsAnotherQuestion) {
  int plan = -1;
  Rule rule{"r", Limit::FixedWindow(1, hours(1))};
  rule.plans = {Limit::FixedWindow(5, hours(1))};
  rule.plan_of = [&](std::string_view) { return plan; };
  const Limiter limiter = Make({rule});
  EXPECT_TRUE(limiter.Check("k")->allowed);
  EXPECT_FALSE(limiter.Check("k")->allowed);
  EXPECT_EQ(limiter.Check("k")->source, Source::kDenialCache);
  plan = 0;
  EXPECT_TRUE(limiter.Check("k")->allowed);
}

TEST_F(DenialCacheTest, AnAnswerFromBeforeAResetIsNotKept) {
  const Limiter limiter = Make(Limit::FixedWindow(1, hours(1)));
  EXPECT_TRUE(limiter.Check("k")->allowed);
  int told = 0;
  // Its answer is made before the reset, and arrives after it.
  store_->answer_late = true;
  limiter.CheckAsync(std::string("k"), 1, [&](absl::StatusOr<Decision> d) {
    EXPECT_FALSE(d->allowed);
    ++told;
  });
  ASSERT_TRUE(limiter.Reset("k").ok());
  store_->Deliver();
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(limiter.Check("k")->allowed);
}

TEST_F(DenialCacheTest, OneAsksWhenTheWaitIsOver) {
  const Limiter limiter = Make(Limit::FixedWindow(3, seconds(1)));
  EXPECT_TRUE(limiter.Check("k", 3)->allowed);
  EXPECT_FALSE(limiter.Check("k")->allowed);
  clock_->Advance(seconds(1));
  Asked();
  bool passed = false;
  limiter.CheckAsync(std::string("k"), 1,
                     [&](absl::StatusOr<Decision> d) { passed = d->allowed; });
  const Decision meanwhile = *limiter.Check("k");
  EXPECT_EQ(meanwhile.source, Source::kDenialCache);
  EXPECT_EQ(meanwhile.retry_after, Micros(2'000));
  store_->Deliver();
  EXPECT_TRUE(passed);
  EXPECT_TRUE(limiter.Check("k", 2)->allowed);
  EXPECT_EQ(Asked(), 2);

  // Whoever asks and never hears is not waited for.
  EXPECT_FALSE(limiter.Check("k")->allowed);
  clock_->Advance(seconds(1));
  limiter.CheckAsync(std::string("k"), 1, [](const auto&) {});
  EXPECT_FALSE(limiter.Check("k")->allowed);
  clock_->Advance(milliseconds(2));
  EXPECT_TRUE(limiter.Check("k")->allowed);
  store_->Deliver();
}

TEST_F(DenialCacheTest, OneAsksAlsoAfterAnAnswerThatLeavesNothing) {
  const Limiter limiter = Make(Limit::Gcra(1, seconds(1)));
  EXPECT_TRUE(limiter.Check("k")->allowed);
  EXPECT_FALSE(limiter.Check("k")->allowed);
  clock_->Advance(seconds(1));
  EXPECT_TRUE(limiter.Check("k")->allowed);
  Asked();
  bool denied = false;
  limiter.CheckAsync(std::string("k"), 1,
                     [&](absl::StatusOr<Decision> d) { denied = !d->allowed; });
  const Decision meanwhile = *limiter.Check("k");
  EXPECT_EQ(meanwhile.source, Source::kDenialCache);
  EXPECT_FALSE(meanwhile.allowed);
  EXPECT_EQ(meanwhile.limit, 1);
  EXPECT_EQ(meanwhile.remaining, 0);
  EXPECT_EQ(meanwhile.retry_after, Micros(2'000));
  EXPECT_EQ(meanwhile.reset_after, Micros(1'000'000));
  // Who asks is waited for no longer than that.
  clock_->Advance(milliseconds(2));
  EXPECT_EQ(limiter.Check("k")->source, Source::kStore);
  store_->Deliver();
  EXPECT_TRUE(denied);
  EXPECT_EQ(Asked(), 2);
  EXPECT_EQ(limiter.Check("k")->retry_after, Micros(998'000));
}

TEST_F(DenialCacheTest, NobodyIsHeldBackWhereThereIsRoom) {
  // Whether another has to wait while one asks.
  const auto held = [&](const Limiter& limiter, int64_t cost) {
    limiter.CheckAsync(std::string("k"), 1, [](const auto&) {});
    const Source source = limiter.Check("k", cost)->source;
    store_->Deliver();
    return source == Source::kDenialCache;
  };
  const auto deny_then_allow = [&](const Limiter& limiter, int64_t all) {
    EXPECT_TRUE(limiter.Reset("k").ok());
    EXPECT_TRUE(limiter.Check("k", all)->allowed);
    EXPECT_FALSE(limiter.Check("k")->allowed);
    clock_->Advance(limiter.Peek("k")->reset_after);
  };
  const Limiter wide = Make(Limit::FixedWindow(3, seconds(1)));
  deny_then_allow(wide, 3);
  EXPECT_TRUE(wide.Check("k")->allowed);
  EXPECT_FALSE(held(wide, 1));
  // What passes is less than 2 ms apart: who would be told to wait so long
  // would leave some of it.
  const Limiter quick = Make(Limit::Gcra(1, Micros(1'999)));
  deny_then_allow(quick, 1);
  EXPECT_TRUE(quick.Check("k")->allowed);
  EXPECT_FALSE(held(quick, 1));
  // A key that is fresh again.
  const Limiter slow = Make(Limit::Gcra(1, seconds(1)));
  deny_then_allow(slow, 1);
  EXPECT_TRUE(slow.Check("k")->allowed);
  clock_->Advance(seconds(1));
  EXPECT_FALSE(held(slow, 1));
}

TEST_F(DenialCacheTest, OfSeveralRulesOneThatLeavesNothingIsEnough) {
  const Limiter limiter = Make({{"wide", Limit::FixedWindow(9, hours(1))},
                                {"narrow", Limit::Gcra(1, seconds(1))}});
  EXPECT_TRUE(limiter.Check("k")->allowed);
  EXPECT_FALSE(limiter.Check("k")->allowed);
  clock_->Advance(seconds(1));
  EXPECT_TRUE(limiter.Check("k")->allowed);
  limiter.CheckAsync(std::string("k"), 1, [](const auto&) {});
  const Decision meanwhile = *limiter.Check("k");
  EXPECT_EQ(meanwhile.source, Source::kDenialCache);
  EXPECT_EQ(meanwhile.name, "narrow");
  EXPECT_EQ(meanwhile.rule, 1);
  EXPECT_EQ(meanwhile.limit, 1);
  EXPECT_FALSE(meanwhile.rules()[1].allowed);
  EXPECT_TRUE(meanwhile.rules()[0].allowed);
  EXPECT_EQ(meanwhile.rules()[0].remaining, 7);
  store_->Deliver();
}

// However many ask: one is denied by the store for each that passes.
TEST_F(DenialCacheTest, ThreadsAskOnceMoreForEachThatPasses) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20;
  const Limiter limiter = Make(Limit::Gcra(1, seconds(1)));
  EXPECT_TRUE(limiter.Check("k")->allowed);
  EXPECT_FALSE(limiter.Check("k")->allowed);
  for (int round = 0; round < kRounds; ++round) {
    clock_->Advance(seconds(1));
    Asked();
    std::atomic<int> granted{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          granted += limiter.Check("k")->allowed ? 1 : 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(granted, 1);
    EXPECT_LE(Asked(), 2);
    EXPECT_FALSE(limiter.Check("k")->allowed);
  }
}

TEST_F(DenialCacheTest, WhoeverAsksIsWaitedForAsLongAsAnswersTake) {
  const Limiter limiter = Make(Limit::FixedWindow(3, seconds(1)));
  for (int i = 0; i < 32; ++i) {
    limiter.CheckAsync("far" + std::to_string(i), 1, [](const auto&) {});
    clock_->Advance(milliseconds(10));
    store_->Deliver();
  }
  EXPECT_TRUE(limiter.Check("k", 3)->allowed);
  EXPECT_FALSE(limiter.Check("k")->allowed);
  clock_->Advance(seconds(1));
  Asked();
  limiter.CheckAsync(std::string("k"), 1, [](const auto&) {});
  clock_->Advance(milliseconds(5));
  EXPECT_EQ(limiter.Check("k")->source, Source::kDenialCache);
  store_->Deliver();
  EXPECT_EQ(Asked(), 1);
}

TEST_F(DenialCacheTest, CallsOfOneBatchAskTogether) {
  const Limiter limiter = Make(Limit::FixedWindow(3, seconds(1)));
  EXPECT_TRUE(limiter.Check("k", 3)->allowed);
  EXPECT_FALSE(limiter.Check("k")->allowed);
  clock_->Advance(seconds(1));
  int granted = 0;
  for (const auto& d : limiter.CheckMany({"k", "k", "k", "k"})) {
    granted += d->allowed ? 1 : 0;
  }
  EXPECT_EQ(granted, 3);
}

TEST_F(DenialCacheTest, HoldsNoMoreKeysThanItWasGiven) {
  const Limiter limiter = Make({{"r", Limit::FixedWindow(1, hours(1))}}, 16);
  const auto check_all = [&] {
    for (int i = 0; i < 1'000; ++i) limiter.Check(std::to_string(i)).value();
  };
  check_all();
  check_all();
  Asked();
  check_all();
  EXPECT_GE(Asked(), 1'000 - 16);
  const std::string long_key(1'000, 'x');
  limiter.Check(long_key).value();
  limiter.Check(long_key).value();
  EXPECT_EQ(limiter.Check(long_key)->source, Source::kStore);
}

TEST_F(DenialCacheTest, KeepsNothingOfAnOutage) {
  const Limiter limiter = Make({{"r", Limit::FixedWindow(1, hours(1))}}, 16,
                               OutagePolicy::Closed(hours(1)));
  store_->failure = absl::UnavailableError("gone");
  EXPECT_EQ(limiter.Check("k")->source, Source::kPolicy);
  store_->failure = absl::OkStatus();
  EXPECT_TRUE(limiter.Check("k")->allowed);
  // What was denied before it stays denied.
  EXPECT_FALSE(limiter.Check("k")->allowed);
  store_->failure = absl::UnavailableError("gone");
  EXPECT_EQ(limiter.Check("k")->source, Source::kDenialCache);
}

TEST_F(DenialCacheTest, IsRefusedWhereDeniedCallsCount) {
  LimiterOptions options;
  options.denial_cache_keys = 16;
  EXPECT_EQ(Limiter::Create(store_, Limit::Ar1(5, 2, seconds(1)), options)
                .status()
                .message(),
            "rule \"default\": counts denied calls, so the store has to be "
            "told of each; denial_cache_keys: allowed: 0");
  options.denial_cache_keys = 100'000'000;
  EXPECT_EQ(Limiter::Create(store_, Limit::Gcra(5, seconds(1)), options)
                .status()
                .message(),
            "denial_cache_keys: 100000000; allowed: 0 to 10000000");
}

// Many threads on few keys: each window's limit is granted, and no more.
TEST_F(DenialCacheTest, ThreadsGetTheLimitOfEachWindow) {
  constexpr int kThreads = 8;
  constexpr int kWindows = 20;
  constexpr int kLimit = 5;
  const Limiter limiter =
      Make({{"r", Limit::FixedWindow(kLimit, seconds(1))}}, 16);
  std::atomic<int> granted{0};
  for (int window = 0; window < kWindows; ++window) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          granted += limiter.Check("k")->allowed ? 1 : 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    // Those that were told to wait for another's answer.
    while (limiter.Check("k")->allowed) ++granted;
    EXPECT_EQ(granted, (window + 1) * kLimit);
    clock_->Advance(seconds(1));
  }
}

}  // namespace
}  // namespace weir
