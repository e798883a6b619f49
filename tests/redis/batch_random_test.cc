// Calls of one rule that share commands decide, and leave behind, what the same
// calls do one after the other.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/redis/redis_factory.h"
#include "weir/registry.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

using testing::EngineUnderTest;
using testing::FreshRedisStore;
using testing::Rng;
using testing::SharedRedis;

std::string Text(const Outcome& o) {
  return absl::StrCat(o.allowed ? "allowed " : "denied ", o.numbers.remaining,
                      " ", o.numbers.wait, " ", o.numbers.reset_after);
}

// Every key of a store with its value, without the namespace.
std::vector<std::string> Contents(const RedisStore& store) {
  const std::string prefix(store.name_space());
  std::vector<std::string> all;
  for (const auto& name :
       SharedRedis()->Call({"KEYS", prefix + ":*"}).elements) {
    all.push_back(name.text.substr(prefix.size()) + " " +
                  SharedRedis()->Call({"DUMP", name.text}).text);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// One store that is asked many at once, and one that is asked one by one.
class Pair {
 public:
  Pair(const EngineUnderTest& engine, std::vector<Limit> limits)
      : together_(FreshRedisStore()), alone_(FreshRedisStore()) {
    for (const Limit& limit : limits) {
      const auto compiled =
          engine.registry->Compile(limit, together_->Now()).value();
      traits_.push_back(compiled.traits);
      rules_together_.push_back(*together_->Attach("rule", compiled));
      rules_alone_.push_back(*alone_->Attach("rule", compiled));
    }
  }
  ~Pair() {
    EXPECT_TRUE(together_->RemoveNamespace().ok());
    EXPECT_TRUE(alone_->RemoveNamespace().ok());
  }
  const Traits& traits(size_t limit) const { return traits_[limit]; }
  Time Now() const { return together_->Now(); }

  struct Asked {
    size_t limit;
    std::string_view key;
    int64_t cost;
    bool observe;
  };
  void Run(Op op, Time now, const std::vector<Asked>& calls) {
    std::vector<Step> steps(calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      steps[i].rule = rules_together_[calls[i].limit].get();
      steps[i].key = steps[i].tag = calls[i].key;
      steps[i].cost = calls[i].cost;
      steps[i].observe = calls[i].observe;
    }
    std::vector<Outcome> got(calls.size());
    std::vector<absl::Status> statuses(calls.size());
    together_->RunEach(op, now, steps.data(), got.data(), statuses.data(),
                       calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      ASSERT_TRUE(statuses[i].ok()) << statuses[i];
      steps[i].rule = rules_alone_[calls[i].limit].get();
      Outcome want;
      const absl::Status status = alone_->Run(op, now, &steps[i], &want, 1);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_EQ(Text(got[i]), Text(want))
          << "call " << i << " of " << calls.size() << ", cost "
          << calls[i].cost << ", op " << static_cast<int>(op);
    }
  }
  void ExpectSameContents() {
    EXPECT_EQ(Contents(*together_), Contents(*alone_));
  }

 private:
  const std::shared_ptr<RedisStore> together_, alone_;
  std::vector<Traits> traits_;
  std::vector<std::shared_ptr<const StoreRule>> rules_together_, rules_alone_;
};

std::vector<std::string> SomeKeys() {
  return {"a",
          "user:42",
          "",
          "{}",
          "}",
          "{b}c",
          "%",
          ":",
          std::string("\0\r\n\xff%s", 6),
          "*3\r\n",
          std::string(64 * 1024, 'x')};
}

class RandomBatches : public ::testing::TestWithParam<EngineUnderTest> {};

TEST_P(RandomBatches, DecideAsCallsOneAfterTheOther) {
  const EngineUnderTest& engine = GetParam();
  const std::vector<std::string> keys = SomeKeys();
  Rng rng = testing::TestRng();
  const int wanted = testing::Rounds(4'000, 200'000);
  for (int made = 0; made < wanted;) {
    SCOPED_TRACE(absl::StrCat("WEIR_TEST_SEED=", testing::Seed()));
    // A limit, and what replaces it.
    std::vector<Limit> limits;
    const Time start = FreshRedisStore()->Now();
    for (int i = 0; i < 2; ++i) {
      limits.push_back(
          rng.OneIn(2)
              ? testing::RandomLimit(engine, rng, start)
              : engine.samples[static_cast<size_t>(rng.Uniform(
                    0, static_cast<int64_t>(engine.samples.size()) - 1))]);
    }
    SCOPED_TRACE(testing::ToText(limits[0]) + ", " +
                 testing::ToText(limits[1]));
    Pair pair(engine, limits);
    const int64_t window = std::max<int64_t>(1, pair.traits(0).window_us);
    Time now = start;
    for (int batch = 0; batch < 12; ++batch) {
      const Op op = !rng.OneIn(5)  ? Op::kCheck
                    : rng.OneIn(3) ? Op::kReset
                    : rng.OneIn(2) ? Op::kRefund
                                   : Op::kPeek;
      std::vector<Pair::Asked> calls;
      Pair::Asked next{0, {}, 1, false};
      for (int64_t left = rng.LogUniform(1, 80); left > 0; --left) {
        next.key = keys[static_cast<size_t>(
            rng.Uniform(0, static_cast<int64_t>(keys.size()) - 1))];
        if (rng.OneIn(12)) {
          next.limit = static_cast<size_t>(rng.Uniform(0, 1));
          const int64_t capacity =
              std::max<int64_t>(1, pair.traits(next.limit).capacity);
          next.cost = rng.OneIn(4)   ? capacity + rng.Uniform(0, 1)
                      : rng.OneIn(6) ? 0
                                     : rng.LogUniform(1, capacity);
          next.observe = rng.OneIn(8);
        }
        calls.push_back(next);
      }
      pair.Run(op, now, calls);
      if (HasFatalFailure()) return;
      made += static_cast<int>(calls.size());
      now += Micros(rng.LogUniform(1, window) * (rng.OneIn(20) ? -3 : 1));
      // A clock that jumped, and one that was set right.
      if (rng.OneIn(20)) now = start + Micros(window) * rng.Uniform(-1, 8);
      now = std::min(now, start + std::chrono::hours(24 * 365 * 200));
    }
    pair.ExpectSameContents();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Redis, RandomBatches,
    ::testing::ValuesIn(testing::IfThereIsRedis(testing::BuiltInEngines())),
    [](const auto& test) { return test.param.algorithm; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RandomBatches);

}  // namespace
}  // namespace weir
