// Law 8: exact at every rate, however long it runs. A caller who takes all it
// can is admitted what the formula says, to the unit, at every instant.
#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(ExactLaw)

TEST_P(ExactLaw, WhatIsAdmittedOverALongRunIsTheFormula) {
  if (!engine().taken_greedily) return;
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        Driver driver(factory().make(), limit, engine().registry);
        Demand demand(setting, rng_);
        // Windows on a grid: begin where one begins.
        demand.Forward(driver.Check("k", 1, demand.t()).reset_after.count());
        const int64_t start = demand.t();
        if (engine().taken_greedily(limit, 0) < 0) return;  // No closed form.
        int64_t admitted = 0;
        int steps = 0;
        for (; steps < Rounds(1'000, 50'000) && !demand.over(); ++steps) {
          const int64_t t = demand.t();
          const int64_t left = driver.Peek("k", 1, t).remaining;
          Decision d = driver.Peek("k", 1, t);
          if (left > 0) {
            d = driver.Check("k", left, t);
            ASSERT_TRUE(d.allowed);
            admitted += left;
          }
          const int64_t formula = engine().taken_greedily(limit, t - start);
          if (formula < 0) return;  // None from here on.
          ASSERT_EQ(admitted, formula)
              << t - start << " us after the first call, step " << steps;
          const Decision next = driver.Peek("k", 1, t);
          ASSERT_TRUE(next.retry_after.has_value());
          const int64_t reset = next.reset_after.count();
          // Never so long that the key is full before it is asked; short at
          // first, for the slowest limits have time for a few steps only.
          demand.Forward(steps < 4 || rng_.OneIn(2) || reset < 3
                             ? next.retry_after->count()
                             : rng_.Uniform(1, reset - 1));
        }
        EXPECT_GT(steps, 1);
      });
}

TEST_P(ExactLaw, ManySmallChargesEqualOneLarge) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 Driver small(factory().make(), limit, engine().registry);
                 Driver large(factory().make(), limit, engine().registry);
                 const int64_t t = setting.start;
                 const int64_t parts =
                     std::min<int64_t>(setting.capacity, rng_.Uniform(2, 200));
                 const int64_t each = rng_.Uniform(1, setting.capacity / parts);
                 for (int64_t i = 0; i < parts; ++i) {
                   EXPECT_TRUE(small.Check("k", each, t).allowed);
                 }
                 EXPECT_TRUE(large.Check("k", parts * each, t).allowed);
                 const uint64_t seed = rng_.Next();
                 EXPECT_EQ(LaterDecisions(small, "k", setting, t, seed),
                           LaterDecisions(large, "k", setting, t, seed));
               });
}

}  // namespace testing
}  // namespace weir
