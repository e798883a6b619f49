// Law 7: a clock that runs back grants nothing and takes nothing back; a state
// that is too far ahead comes from a clock that jumped, and is cut to "empty
// at the reading" by the first call that charges.
#include <algorithm>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(TimeLaw)

namespace {

constexpr int64_t kMinute = int64_t{60} * 1'000'000;
constexpr int64_t kYear = int64_t{365} * 24 * 3600 * 1'000'000;

// A distance back from a reading at which a state is surely taken for that of
// a clock that jumped.
int64_t Jump(const Limit& limit, const Setting& setting, Rng& rng) {
  const int64_t max_wait = Fields(limit).Duration("max_wait", kMinute);
  // A window may have begun its own length before the reading.
  return 5 * setting.longest + max_wait + rng.LogUniform(1, kYear);
}

}  // namespace

TEST_P(TimeLaw, ReadingsThatRunBackGrantNothingAndChangeNothing) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 if (setting.counts_denied) return;
                 const Harness harness = factory().make();
                 const Harness twin_harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 Driver twin(twin_harness, limit, engine().registry);
                 const int64_t t = setting.start;
                 Drain(driver, "k", t);
                 Drain(twin, "k", t);
                 for (int i = 0; i < 50; ++i) {
                   const int64_t back = rng_.LogUniform(1, setting.reset);
                   const Decision d = driver.Check("k", 1, t - back);
                   EXPECT_FALSE(d.allowed) << back << " us back: " << ToText(d);
                   EXPECT_EQ(d.remaining, 0);
                   EXPECT_FALSE(driver.Check("k", 1, t).allowed);
                 }
                 const uint64_t seed = rng_.Next();
                 EXPECT_EQ(LaterDecisions(driver, "k", setting, t, seed),
                           LaterDecisions(twin, "k", setting, t, seed));
               });
}

TEST_P(TimeLaw, AChargeAtAnEarlierReadingCountsAsOneAtTheLastCharge) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 if (setting.counts_denied) return;
                 Driver driver(factory().make(), limit, engine().registry);
                 Driver twin(factory().make(), limit, engine().registry);
                 Demand demand(setting, rng_);
                 int64_t last = INT64_MIN;
                 int64_t first = 0;
                 int64_t admitted = 0;
                 for (int i = 0; i < 80 && !demand.over(); ++i) {
                   int64_t t = demand.t();
                   if (last != INT64_MIN && rng_.OneIn(2)) {
                     t = last - rng_.LogUniform(1, setting.reset);
                   }
                   const int64_t cost = demand.OrdinaryCost();
                   const Decision d = driver.Check("k", cost, t);
                   if (d.allowed) {
                     if (last == INT64_MIN) first = t;
                     last = std::max(last, t);
                     admitted += cost;
                     EXPECT_TRUE(twin.Check("k", cost, last).allowed);
                   }
                   const int64_t at = std::max(last, demand.t());
                   ASSERT_EQ(ToText(driver.Peek("k", 1, at)),
                             ToText(twin.Peek("k", 1, at)))
                       << "call " << i << " at " << t << ", last charge at "
                       << last;
                   demand.Next(d);
                 }
                 EXPECT_LE(admitted, engine().at_most(limit, last - first));
               });
}

TEST_P(TimeLaw, AStateFromAClockThatJumpedIsCutByTheFirstCallThatCharges) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        if (setting.counts_denied) return;
        Driver driver(factory().make(), limit, engine().registry);
        Driver twin(factory().make(), limit, engine().registry);
        const int64_t t = setting.start;
        const int64_t jump = Jump(limit, setting, rng_);
        if (jump > setting.end - t) return;  // No time is that late.
        const int64_t ahead = t + jump;
        driver.Check("k", rng_.Uniform(1, setting.capacity), ahead);
        twin.Check("k", setting.capacity, t);
        const std::string before = ToText(driver.Peek("k", 1, ahead));

        // Reported by those who look, and not stored.
        for (const int64_t cost : {int64_t{0}, int64_t{1}, setting.capacity}) {
          const Decision seen = driver.Peek("k", cost, t);
          EXPECT_EQ(seen.remaining, 0);
          if (!engine().cut_equals_drained) continue;
          EXPECT_EQ(ToText(seen), ToText(twin.Peek("k", cost, t)));
        }
        driver.Check("k", 0, t);
        EXPECT_EQ(ToText(driver.Peek("k", 1, ahead)), before);

        // Stored by a denied call that would have charged.
        EXPECT_FALSE(driver.Check("k", 1, t).allowed);
        const Decision fresh = driver.Peek("k", 1, ahead);
        EXPECT_EQ(fresh.remaining, setting.capacity) << ToText(fresh);
        EXPECT_EQ(fresh.reset_after, Micros(0));
        if (!engine().cut_equals_drained) return;
        const uint64_t seed = rng_.Next();
        EXPECT_EQ(LaterDecisions(driver, "k", setting, t, seed),
                  LaterDecisions(twin, "k", setting, t, seed));
      });
}

TEST_P(TimeLaw, AStateWithinTwiceTheResetIsNotCut) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 if (setting.counts_denied) return;
                 Driver driver(factory().make(), limit, engine().registry);
                 const int64_t t = setting.start;
                 Drain(driver, "k", t);
                 const std::string before = ToText(driver.Peek("k", 1, t));
                 for (const int64_t back : {int64_t{1}, setting.reset}) {
                   EXPECT_FALSE(driver.Check("k", 1, t - back).allowed);
                   EXPECT_EQ(ToText(driver.Peek("k", 1, t)), before);
                 }
               });
}

TEST_P(TimeLaw, NoIdleTimeIsTooLong) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 Driver driver(factory().make(), limit, engine().registry);
                 Drain(driver, "k", setting.start);
                 // The last instant at which a call of this limit fits.
                 const int64_t end = setting.end;
                 if (end - setting.start < setting.longest) return;
                 const Decision d = driver.Check("k", setting.capacity, end);
                 EXPECT_TRUE(d.allowed) << ToText(d);
                 EXPECT_EQ(d.remaining, 0);
                 EXPECT_LE(d.reset_after.count(), setting.longest);
               });
}

TEST_P(TimeLaw, TheStoresClockIsReadWhereTheCallerGivesNoTime) {
  const Harness harness = factory().make();
  if (harness.clock == nullptr) return;  // A server's clock can't be set.
  for (const Limit& limit : engine().samples) {
    SCOPED_TRACE(ToText(limit));
    const Setting setting = Explore(factory(), engine(), limit, rng_);
    const Harness own = factory().make();
    Driver by_clock(own, limit, engine().registry);
    Driver by_hand(factory().make(), limit, engine().registry);
    Demand demand(setting, rng_);
    for (int i = 0; i < 30 && !demand.over(); ++i) {
      own.clock->Set(TimeFromMicros(demand.t()));
      const int64_t cost = demand.OrdinaryCost();
      const Decision d = by_clock.CheckNow("k", cost);
      ASSERT_EQ(ToText(d), ToText(by_hand.Check("k", cost, demand.t())));
      demand.Next(d);
    }
  }
}

}  // namespace testing
}  // namespace weir
