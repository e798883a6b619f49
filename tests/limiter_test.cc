// The face that users see: how a limiter is made, how it is called, what its
// errors say, and how rules come together in a decision.
#include "weir/limiter.h"

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kit/decision_text.h"
#include "tests/message.h"
#include "weir/bound_key.h"
#include "weir/memory_store.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;
using testing::ToText;

// A store that answers every call with one error.
class BrokenStore final : public Store {
 public:
  Time Now() const override { return TimeFromMicros(0); }
  absl::StatusOr<std::shared_ptr<const StoreRule>> Attach(
      std::string_view, const CompiledLimit&) override {
    if (!attaches) return absl::InternalError("no room for rules");
    return std::make_shared<StoreRule>();
  }
  absl::Status Run(Op, std::optional<Time>, const Step*, Outcome*,
                   size_t) override {
    return absl::UnavailableError("gone");
  }

  bool attaches = true;
};

class LimiterTest : public ::testing::Test {
 protected:
  LimiterTest() {
    MemoryStoreOptions options;
    options.clock = clock_;
    store_ = *MemoryStore::Create(options);
  }

  Limiter Make(std::vector<Rule> rules, bool trust_tags = false) {
    LimiterOptions options;
    options.trust_tags = trust_tags;
    absl::StatusOr<Limiter> limiter =
        Limiter::Create(store_, std::move(rules), options);
    EXPECT_TRUE(limiter.ok()) << limiter.status();
    return *std::move(limiter);
  }

  static Rule Named(const char* name, Limit limit) {
    return Rule{name, std::move(limit), false, std::nullopt};
  }

  // A rule of 10 an hour and one of 3.
  static std::vector<Rule> WideAndNarrow() {
    return {Named("wide", Limit::FixedWindow(10, hours(1))),
            Named("narrow", Limit::FixedWindow(3, hours(1)))};
  }

  // A key, a cost for each rule, and the tag.
  static absl::StatusOr<Decision> Run(
      const Limiter& limiter, Op op, std::vector<std::string_view> keys,
      std::vector<int64_t> costs = {},
      std::optional<std::string_view> tag = std::nullopt) {
    Call call;
    call.keys = keys;
    call.costs = costs;
    call.tag = tag;
    return limiter.Run(op, call);
  }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::shared_ptr<MemoryStore> store_;
};

void ExpectInvalid(const absl::Status& status,
                   const std::vector<std::string>& parts) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  for (const std::string& part : parts) {
    EXPECT_THAT(Message(status), HasSubstr(part));
  }
}

// Making one.

TEST_F(LimiterTest, ALimiterOfOneLimitHasARuleNamedDefault) {
  const Limiter limiter = *Limiter::Create(store_, Limit::Gcra(5, seconds(1)));
  ASSERT_EQ(limiter.rules().size(), 1u);
  EXPECT_EQ(limiter.rules()[0].name, "default");
  EXPECT_EQ(limiter.rules()[0].limit.algorithm(), "gcra");
  const Decision d = *limiter.Check("k");
  ASSERT_EQ(d.rules().size(), 1u);
  EXPECT_EQ(d.rules()[0].name, "default");
}

TEST_F(LimiterTest, RulesAreKeptInTheirOrder) {
  const Limiter limiter = Make(WideAndNarrow());
  ASSERT_EQ(limiter.rules().size(), 2u);
  EXPECT_EQ(limiter.rules()[0].name, "wide");
  EXPECT_EQ(limiter.rules()[1].name, "narrow");
}

TEST_F(LimiterTest, CreateNamesWhatIsWrong) {
  const Limit good = Limit::Gcra(5, seconds(1));
  ExpectInvalid(Limiter::Create(nullptr, good).status(), {"store"});
  ExpectInvalid(Limiter::Create(store_, std::vector<Rule>()).status(),
                {"rules"});
  ExpectInvalid(Limiter::Create(store_, Limit::Gcra(-5, seconds(1))).status(),
                {"default", "limit", "-5"});
  std::vector<Rule> twice = {Named("api", good), Named("other", good),
                             Named("api", good)};
  ExpectInvalid(Limiter::Create(store_, twice).status(), {"api", "twice"});
  std::vector<Rule> wrong = {Named("fine", good),
                             Named("wrong", Limit::Uniform(seconds(0)))};
  ExpectInvalid(Limiter::Create(store_, wrong).status(),
                {"\"wrong\"", "interval", "0s"});
}

TEST_F(LimiterTest, CreateRefusesASoftShareThatIsNone) {
  for (const double soft : {0.0, -0.5, 1.01, std::nan(""), HUGE_VAL}) {
    std::vector<Rule> rules = {Named("api", Limit::Gcra(5, seconds(1)))};
    rules[0].soft = soft;
    ExpectInvalid(Limiter::Create(store_, rules).status(), {"api", "soft"});
  }
}

TEST_F(LimiterTest, CreatePassesOnWhatTheStoreSays) {
  auto broken = std::make_shared<BrokenStore>();
  broken->attaches = false;
  EXPECT_EQ(Limiter::Create(broken, Limit::Gcra(5, seconds(1))).status(),
            absl::InternalError("no room for rules"));
}

TEST_F(LimiterTest, AMovedLimiterGoesOnAndKeepsItsStore) {
  Limiter first = *Limiter::Create(store_, Limit::Gcra(2, hours(1)));
  EXPECT_TRUE(first.Check("k")->allowed);
  store_.reset();
  Limiter second = std::move(first);
  EXPECT_TRUE(second.Check("k")->allowed);
  std::vector<Limiter> many;
  many.push_back(std::move(second));
  EXPECT_FALSE(many[0].Check("k")->allowed);
}

// Calling one.

TEST_F(LimiterTest, ACallCostsOneUnlessItSaysOtherwise) {
  const Limiter limiter =
      *Limiter::Create(store_, Limit::FixedWindow(10, hours(1)));
  EXPECT_EQ(limiter.Check("k")->remaining, 9);
  EXPECT_EQ(limiter.Check("k", 5)->remaining, 4);
  EXPECT_EQ(limiter.Refund("k")->remaining, 5);
  EXPECT_EQ(limiter.Refund("k", 2)->remaining, 7);
  EXPECT_EQ(limiter.Peek("k")->remaining, 7);
  EXPECT_TRUE(limiter.Peek("k", 7)->allowed);
  EXPECT_FALSE(limiter.Peek("k", 8)->allowed);
  EXPECT_EQ(limiter.Reset("k")->remaining, 10);
  EXPECT_EQ(Run(limiter, Op::kCheck, {"k"})->remaining, 9);
}

// A limit that was built when its burst still came back before 2^53 us.
TEST_F(LimiterTest, RefundGivesBackNoMoreYearsLater) {
  constexpr int64_t kBurst = 7'200'000'000;
  const Limiter limiter =
      Make({Named("slow", Limit::Gcra(1, seconds(1)).Burst(kBurst))});
  clock_->Set(TimeFromMicros(2'000'000'000'000'000));
  ASSERT_EQ(limiter.Check("k", kBurst)->remaining, 0);
  EXPECT_EQ(limiter.Refund("k", 5)->remaining, 5);
  EXPECT_FALSE(limiter.Check("k", 6)->allowed);
}

TEST_F(LimiterTest, TheFourOperationsAreRunByName) {
  const Limiter limiter =
      *Limiter::Create(store_, Limit::FixedWindow(10, hours(1)));
  const std::string_view key = "k";
  const int64_t cost = 4;
  Call call;
  call.keys = absl::MakeConstSpan(&key, 1);
  call.costs = absl::MakeConstSpan(&cost, 1);
  EXPECT_EQ(limiter.Check(call)->remaining, 6);
  EXPECT_EQ(limiter.Peek(call)->remaining, 6);
  EXPECT_EQ(limiter.Refund(call)->remaining, 10);
  EXPECT_EQ(limiter.Run(Op::kCheck, call)->remaining, 6);
  EXPECT_EQ(limiter.Run(Op::kPeek, call)->remaining, 6);
  EXPECT_EQ(limiter.Reset(call)->remaining, 10);
}

TEST_F(LimiterTest, ATimeThatIsGivenIsUsedInsteadOfTheClock) {
  const Limiter limiter = *Limiter::Create(store_, Limit::Gcra(1, seconds(10)));
  const std::string_view key = "k";
  Call call;
  call.keys = absl::MakeConstSpan(&key, 1);
  call.now = clock_->Now() + seconds(100);
  EXPECT_TRUE(limiter.Check(call)->allowed);
  EXPECT_EQ(limiter.Check(call)->retry_after, seconds(10));
  clock_->Advance(seconds(105));
  EXPECT_EQ(limiter.Check("k")->retry_after, seconds(5));
}

TEST_F(LimiterTest, KeysAndCostsMustFitTheRules) {
  const Limiter limiter = Make({Named("a", Limit::Gcra(5, seconds(1))),
                                Named("b", Limit::Gcra(5, seconds(1))),
                                Named("c", Limit::Gcra(5, seconds(1)))});
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"k"}).ok());
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"k", "k", "k"}).ok());
  ExpectInvalid(Run(limiter, Op::kCheck, {}).status(), {"keys: 0", "3 rules"});
  ExpectInvalid(Run(limiter, Op::kCheck, {"k", "k"}).status(),
                {"keys: 2", "3 rules"});
  ExpectInvalid(Run(limiter, Op::kCheck, {"k", "k", "k", "k"}).status(),
                {"keys: 4", "3 rules"});
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"k"}, {1}).ok());
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"k"}, {1, 1, 1}).ok());
  ExpectInvalid(Run(limiter, Op::kCheck, {"k"}, {1, 1}).status(),
                {"costs: 2", "3 rules"});
  ExpectInvalid(Run(limiter, Op::kCheck, {"k"}, {1, 1, 1, 1}).status(),
                {"costs: 4", "3 rules"});
}

TEST_F(LimiterTest, EachRuleTakesItsOwnCost) {
  const Limiter limiter = Make(WideAndNarrow());
  const Decision d = *Run(limiter, Op::kCheck, {"k"}, {7, 2});
  EXPECT_TRUE(d.allowed);
  EXPECT_EQ(d.rules()[0].remaining, 3);
  EXPECT_EQ(d.rules()[1].remaining, 1);
}

TEST_F(LimiterTest, AWrongCostNamesItsRuleAndChangesNothing) {
  const Limiter limiter = Make(WideAndNarrow());
  ASSERT_TRUE(limiter.Check("k").ok());
  const std::string before = ToText(*limiter.Peek("k"));
  ExpectInvalid(limiter.Check("k", -1).status(), {"cost: -1", "wide"});
  ExpectInvalid(Run(limiter, Op::kCheck, {"k"}, {1, -7}).status(),
                {"cost: -7", "narrow"});
  ExpectInvalid(limiter.Check("k", kMaxExact + 1).status(),
                {"cost: 9007199254740992", "9007199254740991"});
  ExpectInvalid(limiter.Peek("k", -1).status(), {"cost"});
  ExpectInvalid(limiter.Refund("k", -1).status(), {"cost"});
  EXPECT_EQ(ToText(*limiter.Peek("k")), before);
}

TEST_F(LimiterTest, AKeyThatIsTooLongNamesItsRuleAndChangesNothing) {
  const Limiter limiter = Make(WideAndNarrow());
  const std::string longest(kMaxKeyBytes, 'k');
  const std::string too_long = longest + "k";
  EXPECT_TRUE(limiter.Check(longest).ok());
  ExpectInvalid(limiter.Check(too_long).status(), {"key: 65537", "65536"});
  ExpectInvalid(Run(limiter, Op::kCheck, {"k", too_long}, {}, "k").status(),
                {"key: 65537", "narrow"});
  EXPECT_EQ(limiter.Peek("k")->remaining, 3);
}

TEST_F(LimiterTest, AStoresErrorIsPassedOn) {
  const Limiter limiter = *Limiter::Create(std::make_shared<BrokenStore>(),
                                           Limit::Gcra(5, seconds(1)));
  EXPECT_EQ(limiter.Check("k").status(), absl::UnavailableError("gone"));
  EXPECT_EQ(limiter.Peek("k").status(), absl::UnavailableError("gone"));
  EXPECT_EQ(limiter.Refund("k").status(), absl::UnavailableError("gone"));
  EXPECT_EQ(limiter.Reset("k").status(), absl::UnavailableError("gone"));
}

// Tags.

TEST_F(LimiterTest, KeysThatDifferNeedATag) {
  const Limiter limiter = Make(WideAndNarrow());
  ExpectInvalid(Run(limiter, Op::kCheck, {"host", "host/a"}).status(),
                {"tag", "narrow"});
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"host", "host/a"}, {}, "host").ok());
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"host", "host/a"}, {}, "").ok());
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"host", "host"}).ok());
}

TEST_F(LimiterTest, ATagMustBeginEveryKey) {
  const Limiter limiter = Make(WideAndNarrow());
  ExpectInvalid(
      Run(limiter, Op::kCheck, {"host", "a/host"}, {}, "host").status(),
      {"tag", "narrow"});
  ExpectInvalid(
      Run(limiter, Op::kCheck, {"hos", "host/a"}, {}, "host").status(),
      {"tag", "wide"});
  ExpectInvalid(Run(limiter, Op::kCheck, {"a"}, {}, "b").status(), {"tag"});
  for (const Op op : {Op::kPeek, Op::kRefund, Op::kReset}) {
    ExpectInvalid(Run(limiter, op, {"host", "a"}, {}, "host").status(),
                  {"tag", "narrow"});
  }
  EXPECT_EQ(store_->counters().keys, 0);
}

TEST_F(LimiterTest, TrustedTagsAreNotLookedAt) {
  const Limiter limiter = Make(WideAndNarrow(), /*trust_tags=*/true);
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"a", "b"}).ok());
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"a", "b"}, {}, "c").ok());
}

// A store that keeps the tags of the steps that it is given.
class TagStore final : public Store {
 public:
  Time Now() const override { return Time(); }
  absl::StatusOr<std::shared_ptr<const StoreRule>> Attach(
      std::string_view, const CompiledLimit&) override {
    return std::make_shared<StoreRule>();
  }
  absl::Status Run(Op op, std::optional<Time>, const Step* steps, Outcome*,
                   size_t count) override {
    for (size_t i = 0; i < count; ++i) tags.emplace_back(steps[i].tag);
    if (op == Op::kReserve && cancel != nullptr) cancel->Cancel();
    return absl::OkStatus();
  }

  std::vector<std::string> tags;
  Cancellation* cancel = nullptr;  // of whoever has taken a turn
};

std::string_view HostOf(std::string_view key) {
  return key.substr(0, key.find('|'));
}

TEST_F(LimiterTest, TheLimitersTagsAreThoseOfEveryWayToAsk) {
  LimiterOptions options;
  // Its answer lies elsewhere than the key, and only until the next one.
  options.tag_of = [answer = std::make_shared<std::string>()](
                       std::string_view key) -> std::string_view {
    *answer = HostOf(key);
    return *answer;
  };
  const auto store = std::make_shared<TagStore>();
  const Limiter one =
      *Limiter::Create(store, Limit::Gcra(5, seconds(1)), options);
  const std::string_view key = "host|path";
  EXPECT_TRUE(one.Check(key).ok());
  EXPECT_TRUE(one.Peek(key).ok());
  EXPECT_TRUE(one.Refund(key).ok());
  EXPECT_TRUE(one.Reset(key).ok());
  EXPECT_TRUE(one.Reserve(key, 1, seconds(0)).ok());
  EXPECT_TRUE(one.Bind(key)->Check().ok());
  const std::string_view keys[] = {key, "host", "host|", "host|path|more"};
  for (const auto& d : one.CheckMany(keys)) EXPECT_TRUE(d.ok());
  one.CheckAsync(key, 1, [](const auto& d) { EXPECT_TRUE(d.ok()); });
  Call call;
  call.keys = absl::MakeConstSpan(keys, 2);
  const Limiter two = *Limiter::Create(store, WideAndNarrow(), options);
  EXPECT_TRUE(two.Check(call).ok());
  EXPECT_TRUE(two.Peek(key).ok());
  const Call calls[] = {call, call};
  for (const auto& d : two.CheckMany(calls)) EXPECT_TRUE(d.ok());
  two.CheckAsync(call, [](const auto& d) { EXPECT_TRUE(d.ok()); });
  EXPECT_EQ(store->tags.size(), 6U + 4 + 1 + 2 + 2 + 4 + 2);
  EXPECT_THAT(store->tags, ::testing::Each("host"));
}

TEST_F(LimiterTest, ACallThatWaitsLivesByItsTagToo) {
  const auto store = std::make_shared<TagStore>();
  const std::string_view key = "host|path";
  Call call;
  call.keys = absl::MakeConstSpan(&key, 1);
  call.tag = HostOf(key);
  const Limiter waits =
      *Limiter::Create(store, Limit::FixedWindow(5, seconds(1)));
  EXPECT_TRUE(waits.Acquire(call, seconds(0)).ok());
  EXPECT_THAT(store->tags, ::testing::ElementsAre("host", "host"));
  store->tags.clear();
  const Limiter reserves = *Limiter::Create(store, Limit::Gcra(5, seconds(1)));
  EXPECT_TRUE(reserves.Acquire(call, seconds(0)).ok());
  EXPECT_THAT(store->tags, ::testing::ElementsAre("host"));
  // What is taken and given back.
  store->tags.clear();
  Cancellation cancel;
  store->cancel = &cancel;
  EXPECT_FALSE(reserves.Acquire(call, seconds(0), &cancel).ok());
  EXPECT_THAT(store->tags, ::testing::ElementsAre("host", "host"));
}

TEST_F(LimiterTest, WithoutACallbackNothingIsCharged) {
  const Limiter one = *Limiter::Create(store_, Limit::FixedWindow(3, hours(1)));
  one.CheckAsync("k", 1, nullptr);
  one.CheckAsync("k", -1, nullptr);
  EXPECT_EQ(one.Peek("k")->remaining, 3);
}

TEST_F(LimiterTest, TheLimitersTagsMustBeginTheirKeysAndBeAlike) {
  LimiterOptions options;
  options.tag_of = HostOf;
  const Limiter limiter = *Limiter::Create(store_, WideAndNarrow(), options);
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"host", "host|a"}).ok());
  EXPECT_TRUE(Run(limiter, Op::kCheck, {"|a", "|b"}).ok());
  ExpectInvalid(Run(limiter, Op::kCheck, {"host", "hosts|a"}).status(),
                {"tag", "tag_of", "narrow", "wide"});
  ExpectInvalid(
      Run(limiter, Op::kCheck, {"host", "host|a"}, {}, "host").status(),
      {"tag", "tag_of"});
  options.tag_of = [](std::string_view) { return std::string_view("host"); };
  const auto expect_wrong = [](const Limiter& wrong) {
    const std::string name = wrong.rules()[0].name;
    EXPECT_TRUE(wrong.Check("host").ok());
    ExpectInvalid(wrong.Check("hos").status(), {"tag_of", name});
    ExpectInvalid(wrong.Reset("hos").status(), {"tag_of", name});
    ExpectInvalid(wrong.Bind("a host").status(), {"tag_of", name});
    const std::string_view keys[] = {"hos"};
    ExpectInvalid(wrong.CheckMany(keys)[0].status(), {"tag_of", name});
  };
  expect_wrong(*Limiter::Create(store_, WideAndNarrow(), options));
  expect_wrong(*Limiter::Create(store_, Limit::Gcra(5, seconds(1)), options));
  options.trust_tags = true;
  ExpectInvalid(Limiter::Create(store_, WideAndNarrow(), options).status(),
                {"trust_tags", "tag_of"});
}

// Several rules.

TEST_F(LimiterTest, ADeniedCallChargesNoRule) {
  const Limiter limiter = Make(WideAndNarrow());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limiter.Check("k")->allowed);
  const Decision d = *limiter.Check("k");
  EXPECT_FALSE(d.allowed);
  EXPECT_EQ(d.rule, 1);
  EXPECT_EQ(d.limit, 3);
  EXPECT_EQ(d.remaining, 0);
  EXPECT_EQ(d.retry_after, hours(1));
  EXPECT_TRUE(d.rules()[0].allowed);
  EXPECT_EQ(d.rules()[0].remaining, 7);
  EXPECT_EQ(d.rules()[0].retry_after, Micros(0));
  EXPECT_FALSE(d.rules()[1].allowed);
  EXPECT_EQ(d.rules()[1].remaining, 0);
  EXPECT_EQ(d.rules()[1].retry_after, hours(1));
}

TEST_F(LimiterTest, AnAllowedCallIsBoundByTheLeastRemaining) {
  const Limiter limiter = Make(WideAndNarrow());
  EXPECT_EQ(limiter.Check("k")->rule, 1);
  // 7 and 1 left, then 1 and 1: the first one listed.
  EXPECT_EQ(Run(limiter, Op::kCheck, {"k"}, {2, 1})->rule, 1);
  const Decision d = *Run(limiter, Op::kCheck, {"k"}, {6, 0});
  EXPECT_EQ(d.rules()[0].remaining, 1);
  EXPECT_EQ(d.rules()[1].remaining, 1);
  EXPECT_EQ(d.rule, 0);
  EXPECT_EQ(d.limit, 10);
}

TEST_F(LimiterTest, OfThoseThatDenyTheGreatestWaitBinds) {
  const Limiter limiter =
      Make({Named("short", Limit::FixedWindow(1, seconds(1))),
            Named("long", Limit::FixedWindow(1, hours(1))),
            Named("same", Limit::FixedWindow(1, hours(1))),
            Named("wide", Limit::FixedWindow(9, hours(9)))});
  ASSERT_TRUE(limiter.Check("k")->allowed);
  Decision d = *limiter.Check("k");
  EXPECT_EQ(d.rule, 1);
  EXPECT_EQ(d.retry_after, hours(1));
  EXPECT_EQ(d.reset_after, hours(9));
  EXPECT_EQ(d.remaining, 0);
  // Never is greater than any wait.
  d = *Run(limiter, Op::kCheck, {"k"}, {2, 1, 1, 1});
  EXPECT_EQ(d.rule, 0);
  EXPECT_TRUE(d.never());
}

TEST_F(LimiterTest, AResourceAndItsConsumersAreAskedTogether) {
  const Limiter limiter =
      Make({Named("resource", Limit::SlidingLog(5, seconds(10))),
            Named("consumer", Limit::SlidingLog(3, seconds(10)))});
  const auto ask = [&](std::string_view consumer) {
    return *Run(limiter, Op::kCheck, {"host", consumer}, {}, "host");
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask("host/alice").allowed);
  EXPECT_EQ(ask("host/alice").rule, 1);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(ask("host/bob").allowed);
  const Decision d = ask("host/bob");
  EXPECT_FALSE(d.allowed);
  EXPECT_EQ(d.rule, 0);
  EXPECT_TRUE(d.rules()[1].allowed);
  EXPECT_EQ(d.rules()[1].remaining, 1);
}

TEST_F(LimiterTest, OneRuleMayStandTwiceOnOneKey) {
  // The same algorithm, the same key, another name: two states.
  const Limiter limiter = Make({Named("one", Limit::SlidingLog(2, hours(1))),
                                Named("two", Limit::SlidingLog(3, hours(1)))});
  EXPECT_TRUE(limiter.Check("k")->allowed);
  const Decision d = *limiter.Check("k");
  EXPECT_EQ(d.rules()[0].remaining, 0);
  EXPECT_EQ(d.rules()[1].remaining, 1);
}

// Rules that only watch.

TEST_F(LimiterTest, ARuleThatObservesIsChargedAndNeverDenies) {
  std::vector<Rule> rules = WideAndNarrow();
  rules[1].observe = true;
  const Limiter limiter = Make(rules);
  for (int i = 0; i < 3; ++i) {
    const Decision d = *limiter.Check("k");
    EXPECT_TRUE(d.allowed);
    EXPECT_TRUE(d.rules()[1].allowed);
    EXPECT_TRUE(d.rules()[1].observe);
    EXPECT_EQ(d.rules()[1].remaining, 2 - i);
  }
  const Decision d = *limiter.Check("k");
  EXPECT_TRUE(d.allowed);
  EXPECT_EQ(d.rule, 0);
  EXPECT_EQ(d.limit, 10);
  EXPECT_EQ(d.remaining, 6);
  EXPECT_EQ(d.retry_after, Micros(0));
  EXPECT_FALSE(d.rules()[1].allowed);
  EXPECT_EQ(d.rules()[1].retry_after, hours(1));
}

TEST_F(LimiterTest, ARuleThatObservesIsNotChargedForADeniedCall) {
  std::vector<Rule> rules = WideAndNarrow();
  rules[0].observe = true;
  const Limiter limiter = Make(rules);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limiter.Check("k")->allowed);
  const Decision d = *limiter.Check("k");
  EXPECT_FALSE(d.allowed);
  EXPECT_EQ(d.rules()[0].remaining, 7);
}

TEST_F(LimiterTest, RulesThatAllObserveAllowEverything) {
  std::vector<Rule> rules = WideAndNarrow();
  for (Rule& rule : rules) rule.observe = true;
  const Limiter limiter = Make(rules);
  for (int i = 0; i < 20; ++i) {
    const Decision d = *limiter.Check("k");
    EXPECT_TRUE(d.allowed);
    EXPECT_EQ(d.rule, 0);
    EXPECT_EQ(d.remaining, kMaxExact);
    EXPECT_EQ(d.limit, kMaxExact);
    EXPECT_EQ(d.retry_after, Micros(0));
    EXPECT_EQ(d.reset_after, Micros(0));
    EXPECT_EQ(d.rules()[0].allowed, i < 10);
    EXPECT_EQ(d.rules()[1].allowed, i < 3);
  }
}

// Soft shares.

TEST_F(LimiterTest, SoftIsFlaggedAboveItsShareAndNeverDenies) {
  std::vector<Rule> rules = {Named("api", Limit::FixedWindow(10, hours(1)))};
  rules[0].soft = 0.8;
  const Limiter limiter = Make(rules);
  for (int used = 1; used <= 10; ++used) {
    const Decision d = *limiter.Check("k");
    EXPECT_TRUE(d.allowed);
    EXPECT_EQ(d.soft, used > 8) << used;
    EXPECT_EQ(d.rules()[0].soft, used > 8);
  }
  EXPECT_TRUE(limiter.Peek("k")->soft);
  EXPECT_FALSE(limiter.Check("k")->allowed);
}

TEST_F(LimiterTest, ASoftShareIsTheDecimalThatWasWritten) {
  // As doubles, their product with 100 is below the whole number.
  for (const double soft : {0.29, 0.57, 0.58}) {
    std::vector<Rule> rules = {Named("api", Limit::FixedWindow(100, hours(1)))};
    rules[0].soft = soft;
    const Limiter limiter = Make(rules);
    const std::string key = std::to_string(soft);
    const auto share = static_cast<int64_t>(soft * 100 + 0.5);
    EXPECT_FALSE(limiter.Check(key, share)->soft) << soft;
    EXPECT_TRUE(limiter.Check(key, 1)->soft) << soft;
  }
}

TEST_F(LimiterTest, WithoutASoftShareNothingIsFlagged) {
  const Limiter limiter =
      *Limiter::Create(store_, Limit::FixedWindow(1, hours(1)));
  EXPECT_FALSE(limiter.Check("k")->soft);
  EXPECT_FALSE(limiter.Check("k")->soft);
}

TEST_F(LimiterTest, ASoftShareOfTheWholeIsNeverPassed) {
  std::vector<Rule> rules = {Named("api", Limit::FixedWindow(3, hours(1)))};
  rules[0].soft = 1.0;
  const Limiter limiter = Make(rules);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(limiter.Check("k")->soft);
}

// A registry of the user's own.

TEST_F(LimiterTest, AlgorithmsAreLookedUpInTheRegistryThatIsGiven) {
  Registry registry = Registry::BuiltIn();
  static EngineInfo mine = *Registry::BuiltIn().Find("fixed_window");
  mine.name = "mine";
  ASSERT_TRUE(registry.Add(mine).ok());
  const Limit limit = Limit::Of("mine")
                          .With("limit", int64_t{2})
                          .With("window", Micros(hours(1)));
  ExpectInvalid(Limiter::Create(store_, limit).status(), {"mine"});
  LimiterOptions options;
  options.registry = &registry;
  const Limiter limiter = *Limiter::Create(store_, limit, options);
  EXPECT_TRUE(limiter.Check("k")->allowed);
  EXPECT_TRUE(limiter.Check("k")->allowed);
  EXPECT_FALSE(limiter.Check("k")->allowed);
}

}  // namespace
}  // namespace weir
