// Law 13: a refund gives back what was used, at most what makes the key fresh;
// a key that is not there stays away.
#include <algorithm>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(RefundLaw)

TEST_P(RefundLaw, GivesBackWhatWasUsedAndNoMore) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        if (setting.counts_denied) return;
        Driver driver(factory().make(), limit, engine().registry);
        Demand demand(setting, rng_);
        Decision last = driver.Peek("k", 1, demand.t());
        for (int i = 0; i < 80 && !demand.over(); ++i) {
          const int64_t t = demand.t();
          if (rng_.OneIn(3)) {
            const Decision before = driver.Peek("k", 1, t);
            const int64_t n =
                rng_.OneIn(8) ? kMaxExact : demand.Cost(before.remaining);
            last = driver.Refund("k", n, t);
            EXPECT_TRUE(last.allowed);
            EXPECT_EQ(last.retry_after, Micros(0));
            // What has piled up is gone where the key becomes a fresh one.
            EXPECT_GE(last.remaining,
                      std::min(before.remaining, setting.capacity));
            if (!engine().remains_what_is_not_used) {
              // Room for no more than was given back.
              EXPECT_LE(last.remaining - before.remaining, n);
              last = driver.Peek("k", 0, t);
              demand.Next(last);
              continue;
            }
            EXPECT_EQ(last.remaining,
                      n > setting.capacity
                          ? setting.capacity
                          : std::min(setting.capacity, before.remaining + n))
                << n << " given back to " << ToText(before);
            EXPECT_LE(last.reset_after, before.reset_after);
            ASSERT_EQ(ToText(driver.Peek("k", 0, t)), ToText(last));
          } else {
            last = driver.Check("k", demand.Cost(last.remaining), t);
          }
          demand.Next(last);
        }
      });
}

TEST_P(RefundLaw, AtOnceItUndoesTheCharge) {
  if (!engine().exact) return;
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 if (setting.counts_denied) return;
                 Driver driver(factory().make(), limit, engine().registry);
                 Driver twin(factory().make(), limit, engine().registry);
                 Demand demand(setting, rng_);
                 // At the newest charge itself, so that nothing else has to
                 // move.
                 for (int64_t i = rng_.Uniform(1, 20); i > 0; --i) {
                   const int64_t cost = demand.OrdinaryCost();
                   const Decision d = driver.Check("k", cost, demand.t());
                   twin.Check("k", cost, demand.t());
                   if (i > 1) demand.Next(d);
                 }
                 const int64_t t = demand.t();
                 if (demand.over()) return;
                 const Decision before = twin.Peek("k", 1, t);
                 // The only state that a charge and its refund may leave
                 // changed is a window that the charge opened; that needs a
                 // fresh key.
                 if (before.reset_after == Micros(0) || before.remaining == 0)
                   return;
                 const int64_t cost = rng_.Uniform(1, before.remaining);
                 ASSERT_TRUE(driver.Check("k", cost, t).allowed);
                 driver.Refund("k", cost, t);
                 const uint64_t seed = rng_.Next();
                 EXPECT_EQ(LaterDecisions(driver, "k", setting, t, seed),
                           LaterDecisions(twin, "k", setting, t, seed));
               });
}

TEST_P(RefundLaw, MoreThanWasUsedMakesAFreshKey) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 const int64_t t = setting.start;
                 const int64_t used = rng_.LogUniform(1, setting.capacity);
                 driver.Check("k", used, t);
                 driver.Refund("k", rng_.LogUniform(used, kMaxExact), t);
                 const uint64_t seed = rng_.Next();
                 EXPECT_EQ(LaterDecisions(driver, "k", setting, t, seed),
                           LaterDecisions(driver, "new", setting, t, seed));
               });
}

TEST_P(RefundLaw, AnAbsentKeyStaysAbsentAndFresh) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 const int64_t before = KeysOf(harness);
                 const int64_t t = setting.start;
                 for (const int64_t n :
                      {int64_t{0}, int64_t{1}, setting.capacity, kMaxExact}) {
                   const Decision d = driver.Refund("k", n, t);
                   EXPECT_TRUE(d.allowed);
                   EXPECT_EQ(d.remaining, setting.capacity);
                   EXPECT_EQ(d.reset_after, Micros(0));
                 }
                 EXPECT_EQ(KeysOf(harness), before);
               });
}

TEST_P(RefundLaw, NothingGivenBackChangesNothing) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 Driver driver(factory().make(), limit, engine().registry);
                 Driver twin(factory().make(), limit, engine().registry);
                 const int64_t t = setting.start;
                 const int64_t used = rng_.LogUniform(1, setting.capacity);
                 driver.Check("k", used, t);
                 twin.Check("k", used, t);
                 driver.Refund("k", 0, t);
                 EXPECT_EQ(ToText(driver.Peek("k", 1, t)),
                           ToText(twin.Peek("k", 1, t)));
                 const uint64_t seed = rng_.Next();
                 EXPECT_EQ(LaterDecisions(driver, "k", setting, t, seed),
                           LaterDecisions(twin, "k", setting, t, seed));
               });
}

}  // namespace testing
}  // namespace weir
