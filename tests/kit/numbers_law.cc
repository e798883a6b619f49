// Law 3: remaining is how many calls of cost 1 pass right now; reset_after is
// when the key equals a fresh one; a fresh key has all of its capacity.
#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(NumbersLaw)

namespace {

// Counts with calls of cost 1; where there are too many, all but the last few
// of them go in one call. Its sum may be rounded otherwise than theirs, if sums
// are not exact.
void ExpectRemainingPasses(Driver& driver, int64_t remaining, int64_t t,
                           bool exact) {
  constexpr int64_t kByHand = 40;
  int64_t left = remaining;
  if (left > kByHand) {
    const Decision d = driver.Check("k", left - kByHand, t);
    ASSERT_TRUE(d.allowed);
    ASSERT_NEAR(d.remaining, kByHand, exact ? 0 : 1);
    left = d.remaining;
  }
  for (; left > 0; --left) {
    const Decision d = driver.Check("k", 1, t);
    ASSERT_TRUE(d.allowed) << left << " more of " << remaining
                           << " should have passed; " << ToText(d);
    ASSERT_EQ(d.remaining, left - 1);
  }
  const Decision d = driver.Check("k", 1, t);
  EXPECT_FALSE(d.allowed) << "one more than " << remaining << " passed";
  EXPECT_EQ(d.remaining, 0);
}

}  // namespace

TEST_P(NumbersLaw, AFreshKeyHasAllOfItsCapacity) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        const Harness harness = factory().make();
        Driver driver(harness, limit, engine().registry);
        const int64_t t = setting.start;
        for (const int64_t cost :
             {int64_t{0}, int64_t{1}, setting.capacity / 2, setting.capacity}) {
          const Decision d = driver.Peek("k", cost, t);
          EXPECT_TRUE(d.allowed) << cost;
          EXPECT_EQ(d.retry_after, Micros(0));
          EXPECT_EQ(d.limit, setting.capacity);
          EXPECT_EQ(d.remaining, setting.capacity);
          EXPECT_EQ(d.reset_after, Micros(0));
        }
      });
}

TEST_P(NumbersLaw, RemainingIsWhatPassesBackToBack) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 for (int round = 0; round < 4; ++round) {
                   const Harness harness = factory().make();
                   Driver driver(harness, limit, engine().registry);
                   Demand demand(setting, rng_);
                   Decision d = driver.Peek("k", 1, demand.t());
                   for (int64_t i = rng_.Uniform(0, 30); i > 0; --i) {
                     d = driver.Check("k", demand.Cost(d.remaining),
                                      demand.t());
                     demand.Next(d);
                     if (demand.over()) return;
                   }
                   const Decision seen = driver.Peek("k", 1, demand.t());
                   EXPECT_GE(seen.remaining, 0);
                   if (!engine().piles_up || !engine().piles_up(limit)) {
                     EXPECT_LE(seen.remaining, setting.capacity);
                   }
                   EXPECT_EQ(seen.allowed, seen.remaining > 0);
                   ExpectRemainingPasses(driver, seen.remaining, demand.t(),
                                         engine().exact);
                   if (HasFailure()) return;
                 }
               });
}

TEST_P(NumbersLaw, AtResetAfterTheKeyEqualsAFreshOneAndNotEarlier) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 Demand demand(setting, rng_);
                 Decision d;
                 for (int64_t i = rng_.Uniform(1, 40); i > 0; --i) {
                   d = driver.Check("used",
                                    rng_.OneIn(2) ? 1 : demand.OrdinaryCost(),
                                    demand.t());
                   if (i > 1) demand.Next(d);
                 }
                 const int64_t reset = d.reset_after.count();
                 // The last call may have come long after the others.
                 if (demand.over() || reset == 0) return;
                 // What is denied may count for longer than a capacity.
                 if (!setting.counts_denied) {
                   EXPECT_LE(reset, setting.longest);
                 }
                 const int64_t at = demand.t() + reset;
                 const Decision before = driver.Peek("used", 1, at - 1);
                 EXPECT_EQ(before.reset_after, Micros(1)) << ToText(before);
                 const Decision after = driver.Peek("used", 1, at);
                 EXPECT_EQ(after.reset_after, Micros(0));
                 EXPECT_EQ(after.remaining, setting.capacity);
                 if (at >= setting.end) return;
                 const uint64_t seed = rng_.Next();
                 EXPECT_EQ(LaterDecisions(driver, "used", setting, at, seed),
                           LaterDecisions(driver, "fresh", setting, at, seed));
               });
}

}  // namespace testing
}  // namespace weir
