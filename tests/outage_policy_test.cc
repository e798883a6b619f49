// Outage policies, on a store that can be switched off.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/distant_store.h"
#include "weir/bound_key.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"
#include "weir/outage.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class OutagePolicyTest : public ::testing::Test {
 protected:
  OutagePolicyTest() : store_(std::make_shared<DistantStore>(Memory())) {}

  std::shared_ptr<MemoryStore> Memory() {
    MemoryStoreOptions options;
    options.clock = clock_;
    return *MemoryStore::Create(options);
  }
  absl::StatusOr<Limiter> TryMake(OutagePolicy policy,
                                  std::vector<Rule> rules) {
    LimiterOptions options;
    options.outage = std::move(policy);
    return Limiter::Create(store_, std::move(rules), options);
  }
  Limiter Make(OutagePolicy policy, std::vector<Rule> rules) {
    auto limiter = TryMake(std::move(policy), std::move(rules));
    EXPECT_TRUE(limiter.ok()) << limiter.status();
    return *std::move(limiter);
  }
  Limiter Make(OutagePolicy policy, Limit limit) {
    return Make(std::move(policy), std::vector<Rule>{{"r", std::move(limit)}});
  }
  OutagePolicy Local(int64_t instances) {
    return OutagePolicy::Local(Memory(), instances);
  }
  void Break() { store_->failure = absl::UnavailableError("gone"); }
  void Mend() { store_->failure = absl::OkStatus(); }

  const std::shared_ptr<ManualClock> clock_ =
      std::make_shared<ManualClock>(TimeFromMicros(1'000'000));
  const std::shared_ptr<DistantStore> store_;
};

Decision Policy(absl::StatusOr<Decision> d) {
  EXPECT_TRUE(d.ok()) << d.status();
  if (!d.ok()) return {};
  EXPECT_EQ(d->source, Source::kPolicy);
  return *std::move(d);
}

// Every way to ask: each is told the same.
std::vector<absl::StatusOr<Decision>> AskAll(const Limiter& limiter,
                                             DistantStore* store) {
  std::vector<absl::StatusOr<Decision>> all;
  const std::string_view key = "k";
  Call call;
  call.keys = absl::MakeConstSpan(&key, 1);
  all.push_back(limiter.Check(key));
  all.push_back(limiter.Check(call));
  all.push_back(limiter.Peek(key));
  for (auto& d : limiter.CheckMany({key, "l"})) all.push_back(std::move(d));
  limiter.CheckAsync(std::string("k"), 1,
                     [&](auto d) { all.push_back(std::move(d)); });
  store->Deliver();
  all.push_back(limiter.Acquire(key, 1, Micros(0)));
  return all;
}

TEST_F(OutagePolicyTest, WithoutOneEveryCallIsTheStoresError) {
  const Limiter limiter = Make({}, Limit::Gcra(5, seconds(1)));
  Break();
  const auto all = AskAll(limiter, store_.get());
  EXPECT_EQ(all.size(), 7u);
  for (const auto& d : all) EXPECT_EQ(d.status(), store_->failure);
  EXPECT_EQ(limiter.Refund("k").status(), store_->failure);
}

// What a store calls back can be on a thread of its own.
TEST_F(OutagePolicyTest, ALimitersFunctionsAreCalledByTheCallerAlone) {
  int asked = 0;
  LimiterOptions options;
  options.tag_of = [&asked](std::string_view key) {
    ++asked;
    return key.substr(0, 1);
  };
  Rule rule = {"r", Limit::Gcra(5, seconds(1))};
  rule.plans = {Limit::Gcra(4, seconds(1))};
  rule.plan_of = [&asked](std::string_view) {
    ++asked;
    return 0;
  };
  for (const OutagePolicy& policy :
       {OutagePolicy::Open(), OutagePolicy::Closed(), Local(2)}) {
    options.outage = policy;
    const Limiter limiter =
        *Limiter::Create(store_, std::vector<Rule>{rule}, options);
    Break();
    bool told = false;
    limiter.CheckAsync("k", 1, [&told](auto d) {
      Policy(std::move(d));
      told = true;
    });
    const int asked_before = asked;
    EXPECT_GT(asked_before, 0);
    store_->Deliver();
    EXPECT_TRUE(told);
    EXPECT_EQ(asked, asked_before);
    Mend();
  }
}

TEST_F(OutagePolicyTest, OpenLetsAllPassAndSaysSo) {
  for (const Limit& limit :
       {Limit::Gcra(1, seconds(1)), Limit::SlidingLog(1, seconds(1))}) {
    const Limiter limiter = Make(OutagePolicy::Open(), limit);
    Break();
    const auto all = AskAll(limiter, store_.get());
    EXPECT_EQ(all.size(), 7u);
    for (const auto& d : all) EXPECT_TRUE(Policy(d).allowed);
    EXPECT_TRUE(Policy(limiter.Refund("k")).allowed);
    Mend();
    EXPECT_EQ(limiter.Peek("k")->source, Source::kStore);
    EXPECT_EQ(limiter.Peek("k")->remaining, 1);
  }
}

TEST_F(OutagePolicyTest, OpenStillDeniesWhatNoStateWouldLetPass) {
  const Limiter limiter =
      Make(OutagePolicy::Open(), {{"none", Limit::Gcra(0, seconds(1))},
                                  {"some", Limit::Gcra(5, seconds(1))}});
  Break();
  const Decision d = Policy(limiter.Check("k"));
  EXPECT_FALSE(d.allowed);
  EXPECT_TRUE(d.never());
  EXPECT_TRUE(d.rules()[1].allowed);
  EXPECT_TRUE(Policy(Make(OutagePolicy::Open(), Limit::SlidingLog(5, hours(1)))
                         .Check("k", 6))
                  .never());
}

TEST_F(OutagePolicyTest, ClosedDeniesAllAndTellsWhenToComeBack) {
  const Limiter limiter =
      Make(OutagePolicy::Closed(milliseconds(250)), Limit::Gcra(5, seconds(1)));
  Break();
  for (const auto& answer : AskAll(limiter, store_.get())) {
    const Decision d = Policy(answer);
    EXPECT_FALSE(d.allowed);
    EXPECT_EQ(d.retry_after, Micros(250'000));
    EXPECT_EQ(d.remaining, 0);
  }
  EXPECT_TRUE(Policy(limiter.Refund("k")).allowed);
}

TEST_F(OutagePolicyTest, InstancesTogetherAdmitTheLimit) {
  constexpr int kInstances = 4;
  for (const Limit& limit :
       {Limit::Gcra(10, seconds(1)), Limit::SlidingLog(10, seconds(1)),
        Limit::FixedWindow(10, seconds(1)),
        Limit::TokenBucket(10, 10, seconds(1)),
        Limit::SlidingWindowCounter(10, seconds(1))}) {
    std::vector<Limiter> fleet;
    for (int i = 0; i < kInstances; ++i) {
      fleet.push_back(Make(Local(kInstances), limit));
    }
    Break();
    int granted = 0;
    for (int round = 0; round < 10; ++round) {
      for (const Limiter& limiter : fleet) {
        granted += Policy(limiter.Check("k")).allowed ? 1 : 0;
      }
    }
    // A quarter of ten is two and a half calls.
    EXPECT_EQ(granted, 2 * kInstances) << limit.algorithm();
    Mend();
  }
}

TEST_F(OutagePolicyTest, LocalNumbersAreThoseOfTheShare) {
  const Limiter limiter = Make(Local(4), Limit::Gcra(100, seconds(10)));
  Break();
  const Decision first = Policy(limiter.Check("k"));
  EXPECT_EQ(first.limit, 25);
  EXPECT_EQ(first.remaining, 24);
  EXPECT_FALSE(first.soft);
  EXPECT_EQ(Policy(limiter.Check("k", 24)).remaining, 0);
  const Decision denied = Policy(limiter.Check("k"));
  EXPECT_EQ(denied.retry_after, Micros(400'000));
  clock_->Advance(*denied.retry_after - Micros(1));
  EXPECT_FALSE(Policy(limiter.Check("k")).allowed);
  clock_->Advance(Micros(1));
  EXPECT_TRUE(Policy(limiter.Check("k")).allowed);
  EXPECT_EQ(Policy(limiter.Refund("k", 2)).remaining, 2);
  // The next outage goes on where this one ended.
  Mend();
  EXPECT_EQ(limiter.Check("k")->remaining, 99);
  Break();
  EXPECT_EQ(Policy(limiter.Peek("k")).remaining, 2);
}

TEST_F(OutagePolicyTest, LocalIsAllOrNothingToo) {
  const Limiter limiter =
      Make(Local(2), {{"wide", Limit::SlidingLog(10, hours(1))},
                      {"narrow", Limit::FixedWindow(2, hours(1))}});
  Break();
  EXPECT_TRUE(Policy(limiter.Check("k")).allowed);
  const Decision d = Policy(limiter.Check("k"));
  EXPECT_FALSE(d.allowed);
  EXPECT_EQ(d.rule, 1);
  EXPECT_EQ(d.rules()[0].remaining, 4);
}

TEST_F(OutagePolicyTest, ManyKeysOfSeveralRulesAreAnsweredOneByOne) {
  const Limiter limiter =
      Make(Local(2), {{"wide", Limit::SlidingLog(10, hours(1))},
                      {"narrow", Limit::FixedWindow(4, hours(1))}});
  const std::string long_key(70'000, 'x');
  const std::vector<std::string_view> keys = {"a", "a", "a", long_key, "b"};
  EXPECT_EQ(limiter.CheckMany(keys)[2]->rules()[1].remaining, 1);
  Break();
  const auto all = limiter.CheckMany(keys);
  EXPECT_TRUE(Policy(all[0]).allowed);
  EXPECT_TRUE(Policy(all[1]).allowed);
  EXPECT_FALSE(Policy(all[2]).allowed);
  EXPECT_TRUE(absl::IsInvalidArgument(all[3].status()));
  EXPECT_EQ(Policy(all[4]).remaining, 1);
}

TEST_F(OutagePolicyTest, AReservationGoesBackToWhereItWasTaken) {
  const Limiter limiter = Make(Local(1), Limit::Gcra(1, seconds(1)));
  ASSERT_TRUE(limiter.Check("k")->allowed);
  Break();
  auto taken = limiter.Reserve("k", 1, Micros(0));
  ASSERT_TRUE(taken.ok() && taken->reserved()) << taken.status();
  EXPECT_EQ(taken->decision().source, Source::kPolicy);
  Mend();
  ASSERT_TRUE(taken->Cancel().ok());
  EXPECT_EQ(limiter.Peek("k")->remaining, 0);
  Break();
  EXPECT_EQ(Policy(limiter.Peek("k")).remaining, 1);
}

TEST_F(OutagePolicyTest, NoPolicyAnswersForWhatTheStoreShouldGetBack) {
  for (const OutagePolicy& policy :
       {OutagePolicy::Error(), OutagePolicy::Open(), OutagePolicy::Closed(),
        Local(1)}) {
    const Limiter limiter = Make(policy, Limit::Gcra(10, hours(1)));
    ASSERT_TRUE(limiter.Reset("k").ok());
    auto taken = limiter.Reserve("k", 5, Micros(0));
    ASSERT_TRUE(taken.ok() && taken->reserved()) << taken.status();
    Break();
    if (policy.answer() == OutagePolicy::Answer::kLocal) {
      EXPECT_EQ(Policy(limiter.Check("k", 10)).remaining, 0);
    }
    EXPECT_EQ(taken->Cancel(), store_->failure);
    EXPECT_EQ(taken->Cancel(), store_->failure);
    if (policy.answer() == OutagePolicy::Answer::kLocal) {
      EXPECT_EQ(Policy(limiter.Peek("k")).remaining, 0);
    }
    Mend();
    EXPECT_EQ(limiter.Peek("k")->remaining, 5);
    EXPECT_TRUE(taken->Cancel().ok());
    EXPECT_EQ(limiter.Peek("k")->remaining, 10);
    EXPECT_TRUE(limiter.Check("k", 5)->allowed);
    EXPECT_TRUE(taken->Cancel().ok());
    EXPECT_EQ(limiter.Peek("k")->remaining, 5);
  }
}

TEST_F(OutagePolicyTest, WhatMayHaveBeenGivenBackIsNotGivenBackAgain) {
  const Limiter limiter = Make({}, Limit::Gcra(10, hours(1)));
  auto taken = limiter.Reserve("k", 5, Micros(0));
  ASSERT_TRUE(taken.ok() && taken->reserved()) << taken.status();
  Break();
  store_->may_have_run = true;
  EXPECT_EQ(taken->Cancel(), store_->failure);
  Mend();
  EXPECT_TRUE(taken->Cancel().ok());
  EXPECT_EQ(limiter.Peek("k")->remaining, 5);
}

TEST_F(OutagePolicyTest, WhoIsCalledOffWhileTheStoreIsOutIsToldSo) {
  for (const OutagePolicy& policy :
       {OutagePolicy::Error(), OutagePolicy::Open(), OutagePolicy::Closed(),
        Local(1)}) {
    const Limiter limiter = Make(policy, Limit::Gcra(1, seconds(10)));
    ASSERT_TRUE(limiter.Reset("k").ok());
    ASSERT_TRUE(limiter.Check("k")->allowed);
    Cancellation cancel;
    // The turn is taken, then both the store and the caller go.
    store_->after_answer = [&] {
      Break();
      cancel.Cancel();
    };
    EXPECT_EQ(limiter.Acquire("k", 1, seconds(60), &cancel).status(),
              absl::UnavailableError("gone"));
    store_->after_answer = nullptr;
    Mend();
    EXPECT_EQ(*limiter.Peek("k")->retry_after, seconds(20));
  }
}

TEST_F(OutagePolicyTest, HandlesAreAnsweredToo) {
  const Limiter limiter =
      Make(OutagePolicy::Open(), Limit::Gcra(1, seconds(1)));
  const auto handle = limiter.Bind("k");
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(handle->Check()->source(), Source::kStore);
  Break();
  const auto d = handle->Check();
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_TRUE(d->allowed());
  EXPECT_EQ(d->source(), Source::kPolicy);
}

TEST_F(OutagePolicyTest, WhatIsNoOutageStaysAnError) {
  const Limiter limiter =
      Make(OutagePolicy::Open(), Limit::Gcra(1, seconds(1)));
  store_->failure = absl::PermissionDeniedError("wrong password");
  for (const auto& d : AskAll(limiter, store_.get())) {
    EXPECT_EQ(d.status(), store_->failure);
  }
  Break();
  EXPECT_TRUE(absl::IsInvalidArgument(limiter.Check("k", -1).status()));
  EXPECT_EQ(limiter.Reset("k").status(), store_->failure);
}

TEST_F(OutagePolicyTest, AnAsynchronousCallKeepsWhatItWasGiven) {
  auto limiter = std::make_unique<Limiter>(
      Make(Local(1), {{"a", Limit::Gcra(5, seconds(1))},
                      {"b", Limit::FixedWindow(3, seconds(1))}}));
  std::vector<Decision> told;
  {
    std::string first = "tag/1", second = "tag/2", tag = "tag";
    const std::string_view keys[] = {first, second};
    const int64_t costs[] = {1, 2};
    Call call;
    call.keys = keys;
    call.costs = costs;
    call.tag = tag;
    limiter->CheckAsync(call, [&](absl::StatusOr<Decision> d) {
      ASSERT_TRUE(d.ok()) << d.status();
      told.push_back(*std::move(d));
    });
    first = second = tag = "xxxxx";
  }
  EXPECT_TRUE(told.empty());
  limiter.reset();
  Break();
  store_->Deliver();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].source, Source::kPolicy);
  EXPECT_EQ(told[0].rules()[0].remaining, 4);
  EXPECT_EQ(told[0].rules()[1].remaining, 1);
}

TEST_F(OutagePolicyTest, AWrongOneFailsWhenTheLimiterIsMade) {
  const auto message = [&](OutagePolicy policy, Limit limit) {
    return std::string(TryMake(std::move(policy), {{"r", std::move(limit)}})
                           .status()
                           .message());
  };
  const Limit limit = Limit::Gcra(5, seconds(1));
  EXPECT_EQ(message(OutagePolicy::Local(nullptr, 1), limit),
            "outage: the local store is null");
  EXPECT_EQ(message(OutagePolicy::Local(store_, 1), limit),
            "outage: the local store is the limiter's own; allowed: another");
  EXPECT_EQ(message(Local(0), limit),
            "outage: instances: 0; allowed: 1 to 1000000");
  EXPECT_EQ(message(Local(6), limit),
            "rule \"r\": outage: at most 5 pass at once, so one of 6 instances "
            "could let nothing pass; allowed: at most 5 instances");
  EXPECT_EQ(message(Local(5), limit), "");
  EXPECT_EQ(message(Local(5), Limit::Gcra(0, seconds(1))), "");
  EXPECT_EQ(message(OutagePolicy::Closed(Micros(0)), limit),
            "outage: retry_after: 0s; allowed: more than 0");
}

}  // namespace
}  // namespace weir
