// Limits that change while they are in use: Limiter::Update, and plans.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/clocked_store.h"
#include "tests/message.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UpdateTest : public ClockedStore {};

TEST_F(UpdateTest, TheNextCallOfEveryKeyObeys) {
  Limiter limiter = Make(Limit::FixedWindow(10, hours(1)));
  ASSERT_TRUE(limiter.Check("a", 6)->allowed);
  ASSERT_TRUE(limiter.Check("b", 1)->allowed);
  EXPECT_THAT(*limiter.Update(Limit::FixedWindow(8, hours(1))), IsEmpty());
  EXPECT_EQ(limiter.Peek("a")->remaining, 2);
  EXPECT_EQ(limiter.Peek("b")->remaining, 7);
  EXPECT_EQ(limiter.Peek("c")->remaining, 8);
  EXPECT_EQ(limiter.Peek("a")->limit, 8);
}

TEST_F(UpdateTest, NobodyIsRefilledByALimitThatFallsAndRises) {
  for (const Limit& limit :
       {Limit::Gcra(10, hours(1)), Limit::FixedWindow(10, hours(1)),
        Limit::SlidingLog(10, hours(1)), Limit::SlidingLogList(10, hours(1)),
        Limit::SlidingWindowCounter(10, hours(1)),
        Limit::BucketedWindow(10, hours(1), seconds(60)),
        Limit::WindowedTokenBucket(10, hours(1), 10)}) {
    SCOPED_TRACE(limit.algorithm());
    std::vector<Rule> rules = {{limit.algorithm(), limit}};
    Limiter limiter = *Limiter::Create(store_, rules);
    ASSERT_TRUE(limiter.Check("a", 6)->allowed);
    rules[0].limit = limit.With("limit", int64_t{4});
    if (limit.algorithm() == "windowed_token_bucket") {
      rules[0].limit = rules[0].limit.With("burst", int64_t{4});
    }
    ASSERT_TRUE(limiter.Update(rules).ok());
    EXPECT_FALSE(limiter.Peek("a")->allowed);
    EXPECT_EQ(limiter.Peek("a")->remaining, 0);
    rules[0].limit = limit;
    ASSERT_TRUE(limiter.Update(rules).ok());
    EXPECT_EQ(limiter.Peek("a")->remaining, 4);
  }
}

TEST_F(UpdateTest, AnotherAlgorithmStartsAfreshAndSaysSo) {
  std::vector<Rule> rules = {{"first", Limit::FixedWindow(5, hours(1))},
                             {"second", Limit::SlidingLog(5, hours(1))}};
  Limiter limiter = *Limiter::Create(store_, rules);
  ASSERT_TRUE(limiter.Check("a", 5)->allowed);
  rules[1].limit = Limit::Gcra(5, hours(1));
  EXPECT_THAT(*limiter.Update(rules), ElementsAre("second"));
  const Decision d = *limiter.Peek("a");
  EXPECT_EQ(d.rules()[0].remaining, 0);
  EXPECT_EQ(d.rules()[1].remaining, 5);
}

TEST_F(UpdateTest, APlansAlgorithmIsItsRulesToo) {
  const Limit gcra = Limit::Gcra(1, hours(1));
  const Limit fixed = Limit::FixedWindow(1, hours(1));
  Rule rule = {"api", Limit::Gcra(5, hours(1))};
  rule.plan_of = [](std::string_view) { return 0; };
  const auto update = [&](std::vector<Limit> from, std::vector<Limit> to) {
    rule.plans = std::move(from);
    Limiter limiter = *Limiter::Create(store_, std::vector<Rule>{rule});
    rule.plans = std::move(to);
    return *limiter.Update(std::vector<Rule>{rule});
  };
  EXPECT_THAT(update({gcra}, {fixed}), ElementsAre("api"));
  EXPECT_THAT(update({gcra}, {Limit::Gcra(2, hours(1))}), IsEmpty());
  EXPECT_THAT(update({gcra, fixed}, {gcra, gcra}), ElementsAre("api"));
  // A plan that comes or goes takes its keys from the rule's own limit, or
  // leaves them to it.
  EXPECT_THAT(update({gcra}, {gcra, fixed}), ElementsAre("api"));
  EXPECT_THAT(update({gcra, fixed}, {gcra}), ElementsAre("api"));
  EXPECT_THAT(update({gcra}, {gcra, gcra}), IsEmpty());
}

TEST_F(UpdateTest, AnErrorChangesNothing) {
  Limiter limiter = Make(Limit::FixedWindow(10, hours(1)));
  ASSERT_TRUE(limiter.Check("a", 6)->allowed);
  const absl::Status bad =
      limiter.Update(Limit::FixedWindow(10, seconds(0))).status();
  EXPECT_EQ(bad.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(bad), HasSubstr("window"));
  const absl::Status renamed =
      limiter.Update({{"other", Limit::FixedWindow(1, hours(1))}}).status();
  EXPECT_THAT(Message(renamed), HasSubstr("\"other\""));
  const absl::Status more =
      limiter
          .Update({{"default", Limit::FixedWindow(1, hours(1))},
                   {"other", Limit::FixedWindow(1, hours(1))}})
          .status();
  EXPECT_EQ(more.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(limiter.Peek("a")->remaining, 4);
  EXPECT_EQ(limiter.rules()[0].limit.fields().size(),
            Limit::FixedWindow(10, hours(1)).fields().size());
}

TEST_F(UpdateTest, TwoLimitersOnOneKeyStayWithinTheLarger) {
  Limiter small = Make(Limit::SlidingLog(5, hours(1)));
  Limiter large = Make(Limit::SlidingLog(9, hours(1)));
  int granted = 0;
  for (int i = 0; i < 50; ++i) {
    granted += small.Check("a")->allowed ? 1 : 0;
    granted += large.Check("a")->allowed ? 1 : 0;
  }
  EXPECT_EQ(granted, 9);
}

// Whatever the limits were meanwhile, no more passes than the largest allows.
TEST_F(UpdateTest, ThreadsAndUpdatesGrantTheLargestLimitAndNoMore) {
  for (const auto& make :
       {+[](int64_t n) { return Limit::Gcra(n, hours(1)); },
        +[](int64_t n) { return Limit::SlidingWindowCounter(n, hours(1)); },
        +[](int64_t n) { return Limit::SlidingLog(n, hours(1)); }}) {
    std::vector<Rule> rules = {{make(1).algorithm(), make(2000)}};
    Limiter limiter = *Limiter::Create(store_, rules);
    std::atomic<int> granted{0};
    std::atomic<bool> done{false};
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        for (int k = 0; k < 1500; ++k) {
          granted += limiter.Check("a")->allowed ? 1 : 0;
        }
      });
    }
    std::thread changer([&] {
      for (int64_t n = 1000; !done; n = n % 2000 + 100) {
        rules[0].limit = make(n);
        ASSERT_TRUE(limiter.Update(rules).ok());
      }
    });
    for (std::thread& caller : callers) caller.join();
    done = true;
    changer.join();
    rules[0].limit = make(2000);
    ASSERT_TRUE(limiter.Update(rules).ok());
    while (limiter.Check("a")->allowed) ++granted;
    EXPECT_EQ(granted, 2000) << rules[0].name;
  }
}

// Plans: "free", "pro", and whoever is neither.
class PlansTest : public UpdateTest {
 protected:
  Limiter MakePlans() {
    Rule rule = {"api", Limit::FixedWindow(3, hours(1))};
    rule.plans = {Limit::FixedWindow(1, hours(1)),
                  Limit::FixedWindow(100, hours(1)), Limit::Gcra(7, hours(1))};
    rule.plan_of = [this](std::string_view key) {
      if (key == "free") return 0;
      if (key == "pro") return 1;
      if (key == "partner") return 2;
      if (key == "moves") return plan_.load();
      return key == "odd" ? 99 : -1;
    };
    return *Limiter::Create(store_, std::vector<Rule>{rule});
  }

  std::atomic<int> plan_{0};
};

TEST_F(PlansTest, EachKeyHasTheLimitOfItsPlan) {
  const Limiter limiter = MakePlans();
  EXPECT_EQ(limiter.Peek("free")->remaining, 1);
  EXPECT_EQ(limiter.Peek("pro")->remaining, 100);
  EXPECT_EQ(limiter.Peek("partner")->remaining, 7);
  EXPECT_EQ(limiter.Peek("nobody")->remaining, 3);
  EXPECT_EQ(limiter.Peek("odd")->remaining, 3);
  EXPECT_EQ(limiter.Peek("pro")->limit, 100);
}

TEST_F(PlansTest, WhoChangesPlanKeepsWhatIsUsed) {
  const Limiter limiter = MakePlans();
  ASSERT_TRUE(limiter.Check("moves")->allowed);
  EXPECT_FALSE(limiter.Check("moves")->allowed);
  plan_ = 1;
  EXPECT_EQ(limiter.Peek("moves")->remaining, 99);
  plan_ = 0;
  EXPECT_FALSE(limiter.Check("moves")->allowed);
}

TEST_F(PlansTest, APlanOfAnotherAlgorithmStartsAfresh) {
  const Limiter limiter = MakePlans();
  ASSERT_TRUE(limiter.Check("moves")->allowed);
  plan_ = 2;
  EXPECT_EQ(limiter.Peek("moves")->remaining, 7);
}

TEST_F(PlansTest, ABadPlanIsNamedWhenTheLimiterIsMade) {
  Rule rule = {"api", Limit::FixedWindow(3, hours(1))};
  rule.plans = {Limit::FixedWindow(1, seconds(0))};
  rule.plan_of = [](std::string_view) { return 0; };
  const absl::Status bad =
      Limiter::Create(store_, std::vector<Rule>{rule}).status();
  EXPECT_EQ(bad.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(bad), HasSubstr("api"));
  EXPECT_THAT(Message(bad), HasSubstr("window"));
  rule.plan_of = nullptr;
  EXPECT_THAT(
      Message(Limiter::Create(store_, std::vector<Rule>{rule}).status()),
      HasSubstr("plans without plan_of"));
}

}  // namespace
}  // namespace weir
