// Law 4: a look, a call of cost 0 and a denied call change nothing anywhere.
// Two stores get the same calls, one of them with a great deal of looking in
// between, and may not be told apart.
#include <cstdint>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(SilenceLaw)

namespace {

constexpr int64_t kTenYears = int64_t{10} * 365 * 24 * 3600 * 1'000'000;

// A time at which nobody would look: far from t, on either side.
int64_t SomeOtherTime(int64_t t, Rng& rng) {
  const int64_t by = rng.LogUniform(1, kTenYears);
  const int64_t at = rng.OneIn(2) ? t - by : t + by;
  return at > kMaxExact || at < -kMaxExact ? t : at;
}

}  // namespace

TEST_P(SilenceLaw, PeekCostZeroAndDeniedCallsChangeNoLaterDecision) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        const Harness noisy_harness = factory().make();
        const Harness quiet_harness = factory().make();
        Driver noisy(noisy_harness, limit, engine().registry);
        Driver quiet(quiet_harness, limit, engine().registry);
        const absl::StatusOr<CompiledLimit> compiled =
            engine().registry->Compile(limit, TimeFromMicros(setting.start));
        const bool denials_count =
            compiled.ok() && compiled->traits.count_denied;
        Demand demand(setting, rng_);
        Decision last = quiet.Peek("k", 1, demand.t());
        for (int i = 0; i < 60 && !demand.over(); ++i) {
          const int64_t t = demand.t();
          for (int64_t n = rng_.Uniform(0, 4); n > 0; --n) {
            noisy.Peek("k", demand.Cost(last.remaining), t);
            noisy.Peek("k", demand.Cost(0), SomeOtherTime(t, rng_));
            noisy.Peek("another", 1, t);
            noisy.Check("k", 0, t);
            if (!denials_count) {
              const int64_t left = noisy.Peek("k", 1, t).remaining;
              const int64_t too_much = left + demand.OrdinaryCost();
              EXPECT_FALSE(noisy.Check("k", too_much, t).allowed)
                  << too_much << " passed where " << left << " remained";
              noisy.Check("k", kMaxExact, t);
            }
          }
          const int64_t cost = demand.Cost(last.remaining);
          last = quiet.Check("k", cost, t);
          ASSERT_EQ(ToText(noisy.Check("k", cost, t)), ToText(last))
              << "call " << i;
          demand.Next(last);
        }
        const int64_t t = demand.t();
        const uint64_t seed = rng_.Next();
        EXPECT_EQ(LaterDecisions(noisy, "k", setting, t, seed),
                  LaterDecisions(quiet, "k", setting, t, seed));
        EXPECT_EQ(KeysOf(noisy_harness), KeysOf(quiet_harness));
      });
}

TEST_P(SilenceLaw, NoKeyAppearsByLooking) {
  if (!factory().keys)
    GTEST_SKIP() << "not for this store: it can not count its keys";
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 const int64_t before = KeysOf(harness);
                 const int64_t t = setting.start;
                 for (int i = 0; i < 20; ++i) {
                   const std::string key = "key" + std::to_string(i);
                   driver.Peek(key, 1, t);
                   driver.Peek(key, kMaxExact, SomeOtherTime(t, rng_));
                   driver.Check(key, 0, t);
                   driver.Refund(key, 1, t);
                   driver.Refund(key, 0, t);
                   driver.Reset(key, t);
                   EXPECT_FALSE(driver.Try(Op::kCheck, key, -1, t).ok());
                 }
                 EXPECT_EQ(KeysOf(harness), before);
               });
}

TEST_P(SilenceLaw, ACallThatCanNeverPassLeavesNoKey) {
  if (!factory().keys)
    GTEST_SKIP() << "not for this store: it can not count its keys";
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const absl::StatusOr<CompiledLimit> compiled =
                     engine().registry->Compile(limit,
                                                TimeFromMicros(setting.start));
                 ASSERT_TRUE(compiled.ok());
                 if (compiled->traits.count_denied) return;
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 const int64_t before = KeysOf(harness);
                 driver.Check("k", setting.capacity + 1, setting.start);
                 driver.Check("k", kMaxExact, setting.start);
                 EXPECT_EQ(KeysOf(harness), before);
               });
}

TEST_P(SilenceLaw, NoExpiryMovesByLooking) {
  if (!factory().keys || !factory().sweep) {
    GTEST_SKIP() << "not for this store: it forgets keys when it likes";
  }
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 if (setting.counts_denied) return;
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 const int64_t t = setting.start;
                 const Decision d = driver.Check("k", setting.capacity, t);
                 ASSERT_TRUE(d.allowed);
                 const int64_t reset = d.reset_after.count();
                 const int64_t late = t + reset - 1;
                 driver.Peek("k", 1, late);
                 driver.Check("k", 0, late);
                 driver.Check("k", setting.capacity + 1, late);
                 EXPECT_EQ(KeysOf(harness), 1);
                 factory().sweep(*harness.store,
                                 TimeFromMicros(t + reset) + factory().slack);
                 EXPECT_EQ(KeysOf(harness), 0);
               });
}

}  // namespace testing
}  // namespace weir
