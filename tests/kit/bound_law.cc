// Law 1: in any span, never more is admitted than the documented bound; and
// the bound is one: demand that wants everything comes close to it.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(BoundLaw)

namespace {

struct Admitted {
  int64_t t;
  int64_t cost;
};

// Looks at every span that begins and ends at an admitted call. Says whether
// some span longer than nothing comes within a twentieth of the bound.
bool WithinBound(const std::vector<Admitted>& calls,
                 const EngineUnderTest& engine, const Limit& limit,
                 int64_t capacity) {
  bool near = false;
  for (size_t i = 0; i < calls.size(); ++i) {
    int64_t sum = 0;
    for (size_t j = i; j < calls.size(); ++j) {
      sum += calls[j].cost;
      const int64_t span = calls[j].t - calls[i].t;
      const int64_t bound = engine.at_most(limit, span);
      if (sum > bound) {
        ADD_FAILURE() << sum << " admitted within " << span << " us, at most "
                      << bound << " documented; from t=" << calls[i].t;
        return near;
      }
      if (near || span == 0) continue;
      // No instant holds more than the capacity, and time goes by the us.
      const int64_t most = span < INT64_MAX / capacity - 1
                               ? std::min(bound, capacity * (span + 1))
                               : bound;
      near = sum >= most - most / 20;
    }
  }
  return near;
}

}  // namespace

TEST_P(BoundLaw, GreedyDemandStaysWithinTheBoundAndComesNearIt) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        const Harness harness = factory().make();
        Driver driver(harness, limit, engine().registry);
        Demand demand(setting, rng_);
        std::vector<Admitted> calls;
        if (engine().worst_case) {
          for (const auto& ask : engine().worst_case(limit, demand.t())) {
            demand.Forward(ask.t - demand.t());
            int64_t cost = driver.Peek("k", 1, demand.t()).remaining;
            if (ask.cost > 0) cost = std::min(cost, ask.cost);
            if (cost > 0 && driver.Check("k", cost, demand.t()).allowed) {
              calls.push_back({demand.t(), cost});
            }
          }
        }
        for (int i = 0; i < 300 && !demand.over(); ++i) {
          int64_t cost = driver.Peek("k", 1, demand.t()).remaining;
          // Greed first: the slowest limits have time for a few steps only.
          if (i >= 4 && rng_.OneIn(3)) cost = rng_.Uniform(0, cost);
          if (cost > 0 && driver.Check("k", cost, demand.t()).allowed) {
            calls.push_back({demand.t(), cost});
          }
          const Decision next = driver.Peek(
              "k", i < 4 || rng_.OneIn(2) ? 1 : demand.OrdinaryCost(),
              demand.t());
          demand.Forward(next.retry_after ? next.retry_after->count() : 0);
        }
        EXPECT_TRUE(WithinBound(calls, engine(), limit, setting.capacity))
            << "nothing came near the documented bound";
      });
}

TEST_P(BoundLaw, RandomDemandStaysWithinTheBound) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 Demand demand(setting, rng_);
                 std::vector<Admitted> calls;
                 int64_t remaining = setting.capacity;
                 for (int i = 0; i < 300 && !demand.over(); ++i) {
                   const int64_t cost = demand.Cost(remaining);
                   const Decision d = driver.Check("k", cost, demand.t());
                   if (d.allowed) calls.push_back({demand.t(), cost});
                   remaining = d.remaining;
                   demand.Next(d);
                 }
                 WithinBound(calls, engine(), limit, setting.capacity);
               });
}

}  // namespace testing
}  // namespace weir
