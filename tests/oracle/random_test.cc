// Random traces: a limiter against the oracle, every field of every decision.
//
//   WEIR_TEST_SEED=123   the run of that seed
//   WEIR_TEST_FULL=1     ten million calls and more
#include "weir/testing/random.h"

#include <iostream>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/oracle/coverage.h"
#include "tests/oracle/generator.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/store_under_test.h"
#include "tests/oracle/subject.h"
#include "tests/oracle/trace.h"
#include "weir/testing/store_factory.h"

namespace weir_oracle {

std::ostream& operator<<(std::ostream& out, const Mix& mix) {
  return out << mix.name;
}

namespace {

using weir::testing::StoreFactory;

class RandomTraces
    : public ::testing::TestWithParam<std::tuple<StoreFactory, Mix>> {
 protected:
  // One trace, made while it runs. False if it went wrong, which is reported.
  bool RunOne(bool wild, weir::testing::Rng& rng);

  int64_t calls_ = 0;
  Coverage coverage_;
};

// Beside other rules, the wait for a bucket that empties as its window ends is
// the least that it can be.
bool LosesTokens(const std::vector<RuleSpec>& rules) {
  if (rules.size() == 1) return false;
  for (const RuleSpec& rule : rules) {
    if (!rule.limit.Flag("capped", true)) return true;
  }
  return false;
}

bool RandomTraces::RunOne(bool wild, weir::testing::Rng& rng) {
  const auto& [given, mix] = GetParam();
  // Every other trace goes through bound keys.
  const StoreFactory factory =
      rng.OneIn(2) ? weir::testing::ByHandle(given) : given;
  Generator generator(mix, wild, rng);
  Trace trace = generator.trace();
  absl::StatusOr<Subject> subject = Subject::Make(factory.make(), trace);
  if (!subject.ok()) {
    ADD_FAILURE() << subject.status().ToString() << "\n" << ToCsv(trace);
    return false;
  }
  Oracle oracle;
  for (size_t i = 0; i < generator.length(); ++i) {
    Aim aim;
    trace.steps.push_back(generator.Next(&aim));
    const TraceStep& step = trace.steps.back();
    const std::vector<RuleSpec>& rules = trace.configs[step.config];
    const Answer expected = oracle.Run(rules, step.call);
    const absl::StatusOr<Answer> actual = subject->Run(step);
    ++calls_;
    if (!actual.ok() || !Difference(expected, *actual).empty()) {
      ADD_FAILURE() << "WEIR_TEST_SEED=" << weir::testing::Seed() << " on "
                    << factory << "\n"
                    << Report(factory, Shrink(factory, trace));
      return false;
    }
    // Law 2, said once more without the oracle's numbers. What was carried
    // over from another limit is rounded anew at every call, so there a wait
    // is not a promise.
    const bool call = step.call.op == Op::kCheck || step.call.op == Op::kPeek;
    if (call && trace.configs.size() == 1 && !LosesTokens(rules) &&
        (aim == Aim::kAtRetry || aim == Aim::kBeforeRetry)) {
      EXPECT_EQ(actual->allowed, aim == Aim::kAtRetry) << ToCsv(trace);
    }
    coverage_.Add(rules, step.call, aim, expected, oracle.happened());
    generator.Learn(step, expected, oracle);
  }
  return true;
}

TEST_P(RandomTraces, AgreeWithTheOracle) {
  const Mix& mix = std::get<1>(GetParam());
  if (StoreUnderTest().make().store == nullptr) {
    GTEST_SKIP() << "no data: there is no server for the store";
  }
  weir::testing::Rng rng = weir::testing::TestRng();
  const int64_t wanted =
      (mix.max_rules > 1 ? weir::testing::Rounds(90'000, 3'500'000)
                         : weir::testing::Rounds(35'000, 1'200'000)) /
      kFewerCalls;
  while (calls_ < wanted) {
    if (!RunOne(/*wild=*/!rng.OneIn(20), rng)) return;
  }
  std::cout << calls_ << " calls, WEIR_TEST_SEED=" << weir::testing::Seed()
            << "\n";
  coverage_.Print(std::cout);
  if (mix.max_rules > 1) {
    for (const std::string& branch : Coverage::RequiredOfMixes()) {
      EXPECT_GT(coverage_.Count("(call)", branch), 0) << branch;
    }
    return;
  }
  for (const std::string& algorithm : mix.algorithms) {
    for (const std::string& branch : Coverage::Required()) {
      EXPECT_GT(coverage_.Count(algorithm, branch), 0)
          << algorithm << ": " << branch;
    }
  }
}

// Each algorithm that both sides know by itself, and all of them mixed.
std::vector<Mix> Mixes() {
  std::vector<Mix> mixes;
  Mix all{"mixed", {}, 2, 4};
  for (const auto& [name, make] : Algorithms()) {
    if (weir::Registry::BuiltIn().Find(name) == nullptr) continue;
    mixes.push_back({name, {name}, 1, 1});
    all.algorithms.push_back(name);
  }
  mixes.push_back(all);
  return mixes;
}

INSTANTIATE_TEST_SUITE_P(
    Stores, RandomTraces,
    ::testing::Combine(::testing::Values(StoreUnderTest()),
                       ::testing::ValuesIn(Mixes())),
    [](const ::testing::TestParamInfo<RandomTraces::ParamType>& test) {
      return std::get<0>(test.param).name + "_" + std::get<1>(test.param).name;
    });

// An algorithm without a model would go untested without a word.
TEST(OracleModels, CoverEveryBuiltInAlgorithm) {
  for (const weir::EngineInfo* engine : weir::Registry::BuiltIn().engines()) {
    EXPECT_EQ(Algorithms().count(std::string(engine->name)), 1u)
        << engine->name;
  }
}

}  // namespace
}  // namespace weir_oracle
