// Who judges the judge: examples worked by hand, the definitions counted out
// one by one, and algorithms that must agree with each other.
#include "tests/oracle/oracle.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/oracle/draw_limit.h"
#include "tests/oracle/generator.h"
#include "tests/oracle/trace.h"
#include "tests/oracle/wide.h"
#include "weir/testing/random.h"

namespace weir_oracle {
namespace {

constexpr int64_t kStart = 1'700'000'000'000'000;
constexpr int64_t kSecond = 1'000'000;

LimitSpec Gcra(int64_t limit, int64_t window) {
  return {"gcra", {{"limit", limit}}, {{"window", window}}, {}, {}, {}};
}
LimitSpec Bucket(const std::string& name, int64_t capacity, int64_t rate,
                 int64_t interval) {
  const std::string field = name == "token_bucket" ? "refill" : "leak";
  return {name,
          {{"capacity", capacity}, {field, rate}},
          {{"interval", interval}},
          {},
          {},
          {}};
}
LimitSpec Uniform(int64_t interval) {
  return {"uniform", {}, {{"interval", interval}}, {}, {}, {}};
}
LimitSpec Windowed(const std::string& name, int64_t limit, int64_t window) {
  return {name, {{"limit", limit}}, {{"window", window}}, {}, {}, {}};
}

// One rule, one key, one line for each call.
class OneRule : public ::testing::Test {
 protected:
  void Limit(const LimitSpec& spec) { rules_ = {{"r", spec, false}}; }
  std::string Do(Op op, int64_t at, int64_t cost) {
    const Answer a = oracle_.Run(rules_, {op, kStart + at, {"k"}, {cost}});
    const RuleAnswer& r = a.rules[0];
    EXPECT_EQ(a.remaining, r.remaining);
    EXPECT_EQ(a.retry_after, r.retry_after);
    EXPECT_EQ(a.reset_after, r.reset_after);
    return std::string(a.allowed ? "yes" : "no") + " " +
           std::to_string(a.remaining) + " " +
           (a.retry_after ? std::to_string(*a.retry_after) : "never") + " " +
           std::to_string(a.reset_after);
  }
  std::string Check(int64_t at, int64_t cost = 1) {
    return Do(Op::kCheck, at, cost);
  }

  Oracle oracle_;
  std::vector<RuleSpec> rules_;
};

TEST(Wide, RoundsTowardsTheRightSideOfZero) {
  EXPECT_EQ(Wide(-7).FloorDiv(2), Wide(-4));
  EXPECT_EQ(Wide(-7).CeilDiv(2), Wide(-3));
  EXPECT_EQ(Wide(7).FloorDiv(2), Wide(3));
  EXPECT_EQ(Wide(7).CeilDiv(2), Wide(4));
  EXPECT_EQ(Wide(-8).FloorDiv(2), Wide(-4));
  EXPECT_EQ(Wide(8).CeilDiv(2), Wide(4));
}

TEST(WideDeathTest, StopsInsteadOfWrapping) {
  const Wide big = Wide(INT64_MAX) * INT64_MAX;
  EXPECT_DEATH(big * 3, "");
  EXPECT_DEATH(big + big + big, "");
  EXPECT_DEATH(Wide(0) - big - big - big, "");
  EXPECT_DEATH(big.Narrow(), "");
}

// A call takes 3/7 s = 428,571 3/7 us.
TEST_F(OneRule, GcraSevenPerThreeSeconds) {
  Limit(Gcra(7, 3 * kSecond));
  EXPECT_EQ(Check(0), "yes 6 0 428572");
  EXPECT_EQ(Check(0, 6), "yes 0 0 3000000");
  EXPECT_EQ(Check(0), "no 0 428572 3000000");
  EXPECT_EQ(Check(0, 0), "yes 0 0 3000000");
  EXPECT_EQ(Check(0, 8), "no 0 never 3000000");
  EXPECT_EQ(Check(428'571), "no 0 1 2571429");
  // 428,572 - 428,571 3/7 = 4/7 us of the next call has come in already.
  EXPECT_EQ(Check(428'572), "yes 0 0 3000000");
  EXPECT_EQ(Check(428'572), "no 0 428571 3000000");
  EXPECT_EQ(Check(857'143), "yes 0 0 3000000");
  EXPECT_EQ(Do(Op::kRefund, 857'143, 2), "yes 2 0 2142857");
  EXPECT_EQ(Do(Op::kReset, 857'143, 1), "yes 7 0 0");
}

TEST_F(OneRule, GcraIsStricterByAsMuchAsTheClockGoesBack) {
  Limit(Gcra(2, 2 * kSecond));
  EXPECT_EQ(Check(0), "yes 1 0 1000000");
  EXPECT_EQ(Check(-kSecond, 0), "yes 0 0 2000000");
  EXPECT_EQ(Check(-kSecond - 1, 0), "no 0 1 2000001");
  EXPECT_EQ(Check(-kSecond), "no 0 1000000 2000000");
}

// The arrival time is 1 s after the start; it may be 2 * 2 s + 60 s ahead.
TEST_F(OneRule, GcraBelievesAClockUpToTheHorizon) {
  Limit(Gcra(2, 2 * kSecond));
  EXPECT_EQ(Check(0), "yes 1 0 1000000");
  EXPECT_EQ(Check(-63 * kSecond), "no 0 63000000 64000000");
  EXPECT_EQ(Do(Op::kPeek, -63 * kSecond - 1, 1), "no 0 1000000 2000000");
  EXPECT_EQ(Check(-63 * kSecond - 1, 0), "yes 0 0 2000000");
  EXPECT_EQ(Check(0), "yes 0 0 2000000");  // nothing was stored
  EXPECT_EQ(Check(-64 * kSecond), "no 0 1000000 2000000");
  EXPECT_EQ(Check(-63 * kSecond), "yes 0 0 2000000");  // here it was
}

TEST_F(OneRule, ARefundBelowAFractionKeepsIt) {
  Limit(Gcra(3, 1));
  EXPECT_EQ(Check(0, 2), "yes 1 0 1");
  EXPECT_EQ(Do(Op::kRefund, 0, 1), "yes 2 0 1");
  EXPECT_EQ(Do(Op::kRefund, 0, 5), "yes 3 0 0");
}

TEST_F(OneRule, FixedWindowOpensWithTheFirstCall) {
  Limit(Windowed("fixed_window", 3, 10));
  EXPECT_EQ(Check(5, 0), "yes 3 0 0");
  EXPECT_EQ(Check(5, 2), "yes 1 0 10");
  EXPECT_EQ(Check(9, 2), "no 1 6 6");
  EXPECT_EQ(Check(9, 4), "no 1 never 6");
  EXPECT_EQ(Check(14), "yes 0 0 1");
  EXPECT_EQ(Check(4), "no 0 11 11");  // counts as in the window
  EXPECT_EQ(Check(15), "yes 2 0 10");
  EXPECT_EQ(Check(-5), "yes 1 0 30");
  EXPECT_EQ(Check(-6), "no 0 10 10");  // a clock that jumped
}

TEST_F(OneRule, FixedWindowsOnTheEpochStandFast) {
  LimitSpec spec = Windowed("fixed_window", 3, 10);
  spec.words["align"] = "epoch";
  spec.durations["offset"] = 3;
  Limit(spec);
  EXPECT_EQ(Check(12, 2), "yes 1 0 1");
  EXPECT_EQ(Check(13, 2), "yes 1 0 10");
  EXPECT_EQ(Check(12, 2), "no 1 11 11");
  // From before 1970: -kStart is a multiple of 10 as well.
  EXPECT_EQ(Do(Op::kReset, 0, 1), "yes 3 0 0");
  EXPECT_EQ(Check(-2 * kStart - 8), "yes 2 0 1");
}

TEST_F(OneRule, AnEntryOfTheLogLeavesAtExactlyTheWindow) {
  Limit(Windowed("sliding_log", 3, 10));
  EXPECT_EQ(Check(0, 2), "yes 1 0 10");
  EXPECT_EQ(Check(0), "yes 0 0 10");
  EXPECT_EQ(Check(9), "no 0 1 1");
  EXPECT_EQ(Check(10), "yes 2 0 10");
  EXPECT_EQ(Check(10, 3), "no 2 10 10");
  EXPECT_EQ(Check(11, 2), "yes 0 0 10");
  EXPECT_EQ(Check(11, 2), "no 0 10 10");
  EXPECT_EQ(Check(11), "no 0 9 10");
  EXPECT_EQ(Check(5, 0), "yes 0 0 16");
  EXPECT_EQ(Do(Op::kRefund, 5, 1), "yes 1 0 16");
  EXPECT_EQ(Do(Op::kRefund, 5, 1), "yes 2 0 15");
  EXPECT_EQ(Do(Op::kRefund, 5, 1), "yes 3 0 0");
}

// Newest entry at 0; up to 2 * 10 behind it is believed.
TEST_F(OneRule, TheLogIsCutBeyondTwoWindows) {
  Limit(Windowed("sliding_log", 3, 10));
  EXPECT_EQ(Check(0), "yes 2 0 10");
  EXPECT_EQ(Check(-20), "yes 1 0 30");
  EXPECT_EQ(Check(-21), "no 0 10 10");
  EXPECT_EQ(Check(-11), "yes 2 0 10");
}

TEST_F(OneRule, ALimitOfZeroDeniesEverything) {
  Limit(Gcra(0, 0));
  EXPECT_EQ(Check(0, 0), "no 0 never 0");
  EXPECT_EQ(Check(0), "no 0 never 0");
  EXPECT_EQ(Do(Op::kRefund, 0, 1), "yes 0 0 0");
}

TEST_F(OneRule, AReplacedLimitCarriesWhatIsUsed) {
  Limit(Gcra(10, 10 * kSecond));
  EXPECT_EQ(Check(0, 5), "yes 5 0 5000000");
  Limit(Gcra(7, 7 * kSecond));
  EXPECT_EQ(Do(Op::kPeek, kSecond / 2, 1), "yes 2 0 5000000");
  Limit(Gcra(3, 3 * kSecond));
  EXPECT_EQ(Check(kSecond / 2), "no 0 3000000 5000000");
  Limit(Gcra(10, 10 * kSecond));
  EXPECT_EQ(Do(Op::kPeek, kSecond / 2, 1), "yes 5 0 4500000");
}

// 2 rules, and the second denies: nobody is charged, and both say their part.
TEST(SeveralRules, AllOrNothing) {
  Oracle oracle;
  const std::vector<RuleSpec> rules = {
      {"resource", Windowed("sliding_log", 5, 10), false},
      {"consumer", Windowed("sliding_log", 1, 10), false}};
  const auto check = [&](const std::string& who) {
    return oracle.Run(rules,
                      {Op::kCheck, kStart, {"host", "host/" + who}, {1, 1}});
  };
  EXPECT_TRUE(check("a").allowed);
  const Answer denied = check("a");
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.rule, 1);
  EXPECT_EQ(denied.limit, 1);
  EXPECT_TRUE(denied.rules[0].allowed);
  EXPECT_EQ(denied.rules[0].remaining, 4);
  EXPECT_EQ(denied.rules[0].retry_after, 0);
  EXPECT_EQ(denied.retry_after, 10);
  EXPECT_EQ(check("b").rules[0].remaining, 3);
}

TEST(SeveralRules, AWatcherIsChargedAndNeverDenies) {
  Oracle oracle;
  const std::vector<RuleSpec> rules = {
      {"limit", Windowed("fixed_window", 2, 10), false},
      {"watch", Windowed("fixed_window", 1, 10), true}};
  const auto check = [&](int64_t cost) {
    return oracle.Run(rules, {Op::kCheck, kStart, {"k", "k"}, {cost, cost}});
  };
  Answer a = check(1);
  EXPECT_TRUE(a.allowed && a.rules[1].allowed);
  EXPECT_EQ(a.rules[1].remaining, 0);
  EXPECT_EQ(a.remaining, 1);
  a = check(1);
  EXPECT_TRUE(a.allowed);
  EXPECT_FALSE(a.rules[1].allowed);
  EXPECT_EQ(a.rules[1].retry_after, 10);
  EXPECT_EQ(a.retry_after, 0);
  a = check(1);
  EXPECT_FALSE(a.allowed);
  EXPECT_EQ(a.rule, 0);
}

// The definitions, counted out.
class Definitions : public ::testing::TestWithParam<std::string> {};

LimitSpec Small(const std::string& algorithm, weir::testing::Rng& rng) {
  const int64_t limit = rng.Uniform(1, 12);
  const int64_t window = rng.Uniform(1, 60);
  if (algorithm == "gcra") {
    LimitSpec spec = Gcra(limit, window);
    spec.counts["burst"] = rng.Uniform(1, 12);
    return spec;
  }
  if (algorithm == "uniform") return Uniform(window);
  if (algorithm == "token_bucket" || algorithm == "leaky_bucket") {
    return Bucket(algorithm, rng.Uniform(1, 12), limit, window);
  }
  LimitSpec spec = Windowed(algorithm, limit, window);
  if (algorithm == "bucketed_window") {
    spec.durations["resolution"] = rng.Uniform(1, window);
    spec.flags["count_denied"] = rng.OneIn(2);
  } else if (algorithm == "windowed_token_bucket") {
    spec.counts["burst"] = rng.Uniform(1, limit);
    spec.flags["capped"] = rng.OneIn(2);
  } else if (algorithm == "ar1") {
    spec = {algorithm, {}, {{"resolution", rng.Uniform(1, 5)}}, {}, {}, {}};
    spec.reals["limit"] = static_cast<double>(rng.Uniform(4, 48)) / 4;
    spec.reals["decay_factor"] = static_cast<double>(rng.Uniform(9, 40)) / 8;
    spec.flags["count_denied"] = rng.OneIn(2);
  }
  return spec;
}

TEST_P(Definitions, NumbersAreWhatCountingGives) {
  weir::testing::Rng rng = weir::testing::TestRng();
  for (int round = 0; round < 300; ++round) {
    const std::unique_ptr<Model> model = MakeModel(Small(GetParam(), rng));
    int64_t t = rng.Uniform(-100, 100);
    for (int step = 0; step < 20; ++step) {
      t += rng.Uniform(0, 9);
      const int64_t cost = rng.Uniform(0, 4);
      if (cost > 0 && model->Admits(t, cost)) model->Charge(t, cost);
      int64_t passed = 0;
      auto m = model->Clone();
      for (; m->Admits(t, 1); ++passed) m->Charge(t, 1);
      EXPECT_EQ(model->Remaining(t), passed);
      int64_t reset = 0;
      while (!model->Fresh(t + reset)) ++reset;
      EXPECT_EQ(model->ResetAfter(t), reset);
      for (int64_t c = 0; c <= model->Capacity() + 1; ++c) {
        std::optional<int64_t> wait;
        for (int64_t d = 0; d <= reset && !wait; ++d) {
          if (model->Admits(t + d, c)) wait = d;
        }
        EXPECT_EQ(model->Wait(t, c), wait) << "cost " << c;
      }
    }
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Algorithms()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Definitions, ::testing::ValuesIn(Names()),
                         [](const ::testing::TestParamInfo<std::string>& test) {
                           return test.param;
                         });

// The same calls asked of two algorithms.
void ExpectAlike(const std::string& algorithm,
                 LimitSpec (*translate)(const LimitSpec&)) {
  weir::testing::Rng rng = weir::testing::TestRng();
  const Mix mix{algorithm, {algorithm}, 1, 1};
  for (int round = 0; round < weir::testing::Rounds(200, 20'000); ++round) {
    Generator generator(mix, /*wild=*/!rng.OneIn(10), rng);
    Trace trace = generator.trace();
    Oracle one;
    Oracle other;
    for (size_t i = 0; i < generator.length(); ++i) {
      Aim aim;
      trace.steps.push_back(generator.Next(&aim));
      const TraceStep& step = trace.steps.back();
      const std::vector<RuleSpec>& rules = trace.configs[step.config];
      std::vector<RuleSpec> translated = rules;
      for (RuleSpec& rule : translated) rule.limit = translate(rule.limit);
      const Answer answer = one.Run(rules, step.call);
      const std::string difference =
          Difference(answer, other.Run(translated, step.call));
      ASSERT_EQ(difference, "") << ToCsv(trace);
      generator.Learn(step, answer, one);
    }
  }
}

LimitSpec GcraOfBucket(const LimitSpec& spec) {
  const std::string rate = spec.algorithm == "token_bucket" ? "refill" : "leak";
  LimitSpec gcra = Gcra(spec.Count(rate), spec.Duration("interval"));
  gcra.counts["burst"] = spec.Count("capacity");
  if (spec.zero()) gcra.counts["limit"] = 0;
  gcra.durations["max_wait"] = spec.Duration("max_wait", 60 * kSecond);
  return gcra;
}

LimitSpec GcraOfUniform(const LimitSpec& spec) {
  LimitSpec gcra = Gcra(1, spec.Duration("interval"));
  gcra.durations["max_wait"] = spec.Duration("max_wait", 60 * kSecond);
  return gcra;
}

TEST(OracleModels, ATokenBucketIsGcraByAnotherName) {
  ExpectAlike("token_bucket", &GcraOfBucket);
}

TEST(OracleModels, ALeakyBucketIsGcraByAnotherName) {
  ExpectAlike("leaky_bucket", &GcraOfBucket);
}

TEST(OracleModels, UniformIsGcraOfOne) {
  ExpectAlike("uniform", &GcraOfUniform);
}

}  // namespace
}  // namespace weir_oracle
