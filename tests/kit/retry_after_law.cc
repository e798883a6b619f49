// Law 2: denied, the same call passes at retry_after if nothing else came, and
// 1 us earlier it does not. Never means never.
#include <cstdint>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(RetryAfterLaw)

namespace {

constexpr int64_t kTenYears = int64_t{10} * 365 * 24 * 3600 * 1'000'000;

// The promise of a denial for `cost` at t, held against looks at other times.
void ExpectWaitIsTrue(Driver& driver, const Setting& setting, int64_t cost,
                      int64_t t, Rng& rng) {
  const Decision denied = driver.Peek("k", cost, t);
  ASSERT_FALSE(denied.allowed);
  ASSERT_FALSE(denied.never()) << "cost " << cost << " of " << setting.capacity
                               << ": " << ToText(denied);
  const int64_t wait = denied.retry_after->count();
  ASSERT_GT(wait, 0);
  ASSERT_LE(wait, denied.reset_after.count()) << ToText(denied);
  if (wait > kMaxExact - t) return;
  const Decision then = driver.Peek("k", cost, t + wait);
  EXPECT_TRUE(then.allowed)
      << "promised in " << wait << ", then " << ToText(then);
  EXPECT_EQ(then.retry_after, Micros(0));
  for (const int64_t early : {int64_t{1}, rng.Uniform(1, wait)}) {
    const Decision d = driver.Peek("k", cost, t + wait - early);
    EXPECT_FALSE(d.allowed) << early << " us early of " << wait;
    EXPECT_EQ(d.retry_after, Micros(early)) << ToText(d);
  }
}

}  // namespace

TEST_P(RetryAfterLaw, PassesAtRetryAfterAndNotOneMicrosecondEarlier) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 Demand demand(setting, rng_);
                 int64_t remaining = setting.capacity;
                 int denials = 0;
                 for (int i = 0; i < 120 && !demand.over(); ++i) {
                   const Decision d =
                       driver.Check("k", demand.Cost(remaining), demand.t());
                   remaining = d.remaining;
                   const int64_t cost =
                       rng_.OneIn(2) ? remaining + 1 : demand.OrdinaryCost();
                   if (cost <= setting.capacity && cost > remaining) {
                     ExpectWaitIsTrue(driver, setting, cost, demand.t(), rng_);
                     ++denials;
                   }
                   if (HasFailure()) return;
                   demand.Next(d);
                 }
                 // Windows of a hundred years may leave no time for it.
                 EXPECT_TRUE(denials > 0 || demand.over())
                     << "the demand never met a limit";
               });
}

TEST_P(RetryAfterLaw, ACallThatWaitsAsToldPasses) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 Demand demand(setting, rng_);
                 for (int i = 0; i < 60 && !demand.over(); ++i) {
                   const int64_t cost = demand.OrdinaryCost();
                   Decision d = driver.Check("k", cost, demand.t());
                   if (d.allowed) {
                     EXPECT_EQ(d.retry_after, Micros(0));
                     continue;
                   }
                   ASSERT_FALSE(d.never());
                   demand.Forward(d.retry_after->count());
                   if (demand.over()) break;
                   d = driver.Check("k", cost, demand.t());
                   ASSERT_TRUE(d.allowed)
                       << "cost " << cost << " " << ToText(d);
                 }
               });
}

TEST_P(RetryAfterLaw, NeverStaysNever) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        const Harness harness = factory().make();
        Driver driver(harness, limit, engine().registry);
        const int64_t t = setting.start;
        for (const int64_t used : {int64_t{0}, setting.capacity}) {
          if (used > 0 && engine().piles_up && engine().piles_up(limit)) {
            continue;
          }
          if (used > 0) Drain(driver, "k", t);
          for (const int64_t cost : {setting.capacity + 1, kMaxExact}) {
            EXPECT_TRUE(driver.Check("k", cost, t).never());
            for (const int64_t later :
                 {int64_t{1}, setting.longest, kTenYears}) {
              if (later > kMaxExact - t) continue;
              const Decision d = driver.Peek("k", cost, t + later);
              EXPECT_FALSE(d.allowed);
              EXPECT_TRUE(d.never()) << "in " << later << ": " << ToText(d);
            }
          }
        }
      });
}

TEST_P(RetryAfterLaw, PeekAndADeniedCheckSayTheSame) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 if (setting.counts_denied) return;
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 Demand demand(setting, rng_);
                 int64_t remaining = setting.capacity;
                 for (int i = 0; i < 100 && !demand.over(); ++i) {
                   const int64_t cost = demand.Cost(remaining);
                   const Decision seen = driver.Peek("k", cost, demand.t());
                   const Decision d = driver.Check("k", cost, demand.t());
                   EXPECT_EQ(seen.allowed, d.allowed);
                   EXPECT_EQ(ToText(seen.retry_after), ToText(d.retry_after));
                   if (!d.allowed) {
                     ASSERT_EQ(ToText(seen), ToText(d));
                   }
                   remaining = d.remaining;
                   demand.Next(d);
                 }
               });
}

}  // namespace testing
}  // namespace weir
