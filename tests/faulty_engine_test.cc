// An engine from outside the tree that leaves an error of a command untaken:
// its calls are not decided, and nothing is charged.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/clocked_store.h"
#include "tests/message.h"
#include "weir/bound_key.h"
#include "weir/registry.h"

namespace weir {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;

// What the engine does wrong, once it has done what is right.
enum class Fault { kNone, kInAdmits, kInApply };
Fault fault = Fault::kNone;

// A command that does not fit what any of them keeps.
void Err(Txn& txn) { txn.HSET("field", "value"); }

// An engine of this tree as one of the user's own.
template <const char* kName>
struct Faulty {
  static const EngineOps<Txn>& Right() {
    return Registry::BuiltIn().Find(kName)->ops;
  }
  static bool Admits(Txn& txn, const StepArgs& args) {
    const bool admits = Right().admits(txn, args);
    if (fault == Fault::kInAdmits) Err(txn);
    return admits;
  }
  static Numbers Apply(Txn& txn, const StepArgs& args, Action action) {
    const Numbers numbers = Right().apply(txn, args, action);
    if (fault == Fault::kInApply) Err(txn);
    return numbers;
  }
  static Numbers Check(Txn& txn, const StepArgs& args, bool count_denied,
                       bool* allowed) {
    const Numbers numbers = Right().check(txn, args, count_denied, allowed);
    if (fault != Fault::kNone) Err(txn);
    return numbers;
  }
  static void AddTo(Registry* registry) {
    static const std::string name = std::string("faulty_") + kName;
    auto* info = new EngineInfo(*Registry::BuiltIn().Find(kName));
    info->name = name;
    info->ops = {&Admits, &Apply, &Check};
    EXPECT_TRUE(registry->Add(*info).ok());
  }
};

constexpr char kText[] = "fixed_window";
constexpr char kSet[] = "sliding_log";
constexpr char kList[] = "sliding_log_list";

const Registry& FaultyRegistry() {
  static const Registry* const registry = [] {
    auto* made = new Registry(Registry::BuiltIn());
    Faulty<kText>::AddTo(made);
    Faulty<kSet>::AddTo(made);
    Faulty<kList>::AddTo(made);
    return made;
  }();
  return *registry;
}

class FaultyEngineTest : public ClockedStore,
                         public ::testing::WithParamInterface<const char*> {
 protected:
  ~FaultyEngineTest() override { fault = Fault::kNone; }

  static std::string Algorithm() { return std::string("faulty_") + GetParam(); }
  static Rule Of(std::string name, int64_t limit) {
    return {std::move(name), Limit::Of(Algorithm())
                                 .With("limit", limit)
                                 .With("window", Micros(hours(1)))};
  }
  Limiter With(std::vector<Rule> rules) const {
    LimiterOptions options;
    options.registry = &FaultyRegistry();
    return *Limiter::Create(store_, std::move(rules), options);
  }

  static void ExpectTold(const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(Message(status), HasSubstr("engine \"" + Algorithm() + "\""));
    EXPECT_THAT(Message(status),
                HasSubstr("WRONGTYPE Operation against a key"));
  }
  // Calls of every kind, each wrong in every way.
  void CallWrongly(const Limiter& limiter, std::string_view key) {
    for (const Fault wrong : {Fault::kInAdmits, Fault::kInApply}) {
      fault = wrong;
      ExpectTold(limiter.Check(key, 2).status());
      ExpectTold(limiter.Check(key, 1'000'000).status());
      ExpectTold(limiter.Check(key, 0).status());
      ExpectTold(limiter.Peek(key).status());
      ExpectTold(limiter.Refund(key, 1).status());
      ExpectTold(limiter.CheckMany({key, key})[1].status());
    }
    fault = Fault::kNone;
  }
  // The same, and nothing comes of it.
  void ExpectNothingCharged(const Limiter& limiter, std::string_view key) {
    const Decision before = *limiter.Peek(key);
    const MemoryStore::Counters held = store_->counters();
    CallWrongly(limiter, key);
    const Decision after = *limiter.Peek(key);
    ASSERT_EQ(after.rules().size(), before.rules().size());
    for (size_t i = 0; i < after.rules().size(); ++i) {
      EXPECT_EQ(after.rules()[i].remaining, before.rules()[i].remaining);
      EXPECT_EQ(after.rules()[i].reset_after, before.rules()[i].reset_after);
    }
    EXPECT_EQ(store_->counters().keys, held.keys);
    EXPECT_EQ(store_->counters().refused, held.refused);
  }
};

TEST_P(FaultyEngineTest, ItsCallsAreNotDecidedAndChargeNothing) {
  const Limiter limiter = With({Of("one", 10)});
  ASSERT_TRUE(limiter.Check("a", 3)->allowed);
  clock_->Advance(Micros(1'000));
  ExpectNothingCharged(limiter, "a");
  EXPECT_EQ(limiter.Check("a")->remaining, 6);
}

TEST_P(FaultyEngineTest, NoOtherRuleIsCharged) {
  const Rule word = {"word", Limit::Gcra(20, hours(1))};
  const Rule log = {"log", Limit::SlidingLog(20, hours(1))};
  int n = 0;
  for (const std::vector<Rule>& rules :
       {std::vector<Rule>{word, Of("two", 10), log},
        std::vector<Rule>{Of("two", 10), word, Of("three", 30)}}) {
    const Limiter limiter = With(rules);
    const std::string key = std::to_string(++n);
    ASSERT_TRUE(limiter.Check(key, 3)->allowed);
    ExpectNothingCharged(limiter, key);
  }
}

TEST_P(FaultyEngineTest, WhatWasWrittenUnderAnotherLimitStaysSo) {
  const Limiter old = With({Of("one", 10)});
  ASSERT_TRUE(old.Check("a", 3)->allowed);
  const MemoryStore::Counters held = store_->counters();
  CallWrongly(With({Of("one", 20)}), "a");
  EXPECT_EQ(store_->counters().keys, held.keys);
  EXPECT_EQ(old.Peek("a")->remaining, 7);
  EXPECT_EQ(With({Of("one", 20)}).Check("a")->remaining, 16);
}

TEST_P(FaultyEngineTest, ABytesCountIsKept) {
  const Limiter limiter = With({Of("one", 1'000)});
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(limiter.Check("a")->allowed);
  CallWrongly(limiter, "a");
  ASSERT_TRUE(limiter.Reset("a").ok());
  EXPECT_EQ(store_->counters().keys, 0);
  EXPECT_EQ(store_->counters().bytes, 0);
}

TEST_P(FaultyEngineTest, OfALargeValueTheOtherRulesAreNotChargedEither) {
  const Limiter limiter =
      With({{"word", Limit::Gcra(10'000, hours(1))}, Of("two", 10'000)});
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(limiter.Check("a")->allowed);
  const int64_t left = limiter.Peek("a")->rules()[0].remaining;
  CallWrongly(limiter, "a");
  EXPECT_EQ(limiter.Peek("a")->rules()[0].remaining, left);
}

TEST_P(FaultyEngineTest, AHandleSaysItToo) {
  const Limiter limiter = With({Of("one", 10)});
  const BoundKey handle = *limiter.Bind("a");
  ASSERT_TRUE(handle.Check()->allowed());
  fault = Fault::kInApply;
  ExpectTold(handle.Check().status());
  fault = Fault::kNone;
  EXPECT_EQ(handle.Check()->remaining(), 8);
}

std::string EngineName(const ::testing::TestParamInfo<const char*>& engine) {
  return engine.param;
}

INSTANTIATE_TEST_SUITE_P(, FaultyEngineTest,
                         ::testing::Values(kText, kSet, kList), EngineName);

}  // namespace
}  // namespace weir
