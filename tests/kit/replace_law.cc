// Law 11: a limit is replaced by a limiter with another one under the same
// rule name. The next call of every key obeys it; what is used is carried over,
// rounded up, and nobody is refilled.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(ReplaceLaw)

namespace {

// An instant after `from` at which every window of `limit` begins anew.
int64_t NextBeginning(const StoreFactory& factory,
                      const EngineUnderTest& engine, const Limit& limit,
                      int64_t from) {
  Driver driver(factory.make(), limit, engine.registry);
  return from + driver.Check("k", 1, from).reset_after.count();
}

// The limit with another count in its first field, if that is one.
std::optional<Limit> WithOtherCount(const EngineUnderTest& engine,
                                    const Limit& limit, Rng& rng, Time now) {
  const EngineInfo* info = engine.registry->Find(engine.algorithm);
  if (info->fields.empty() || info->fields[0].type != FieldType::kCount) {
    return std::nullopt;
  }
  for (int tries = 0; tries < 100; ++tries) {
    Limit other = limit.With(info->fields[0].name,
                             rng.LogUniform(1, info->fields[0].max));
    if (engine.registry->Compile(other, now).ok()) return other;
  }
  return std::nullopt;
}

// The same limit, its fields named in the opposite order.
Limit Backwards(const Limit& limit) {
  Limit same = Limit::Of(limit.algorithm());
  for (size_t i = limit.fields().size(); i > 0; --i) {
    const auto& [name, value] = limit.fields()[i - 1];
    same = std::move(same).With(name, value);
  }
  return same;
}

// The same limit, what it leaves to the defaults written out where they are a
// word, yes or no, or another field.
Limit InFull(const EngineInfo& info, const Limit& limit) {
  const auto given = [&](std::string_view name) -> const FieldValue* {
    for (const auto& [field, value] : limit.fields()) {
      if (field == name) return &value;
    }
    return nullptr;
  };
  Limit same = limit;
  for (const Field& field : info.fields) {
    if (field.fallback.empty() || given(field.name) != nullptr) continue;
    if (field.type == FieldType::kBool) {
      same = std::move(same).With(field.name, field.fallback == "true");
    } else if (field.type == FieldType::kWord) {
      same = std::move(same).With(field.name, std::string(field.fallback));
    } else if (const FieldValue* other = given(field.fallback)) {
      same = std::move(same).With(field.name, *other);
    }
  }
  return same;
}

}  // namespace

TEST_P(ReplaceLaw, WhatIsUsedIsCarriedOver) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        const Harness harness = factory().make();
        const Limit other = RandomLimit(engine(), rng_, harness.store->Now());
        SCOPED_TRACE("replaced by " + ToText(other));
        const Setting after = Explore(factory(), engine(), other, rng_);
        if (after.counts_denied) return;
        const int64_t t =
            NextBeginning(factory(), engine(), limit, setting.start);
        if (t > std::min(setting.end, after.end)) return;
        Driver old_one(harness, limit, engine().registry);
        Driver new_one(harness, other, engine().registry);
        const int64_t used = rng_.LogUniform(1, setting.capacity);
        ASSERT_TRUE(old_one.Check("k", used, t).allowed);
        const Decision d = new_one.Peek("k", 1, t);
        EXPECT_EQ(d.limit, after.capacity);
        EXPECT_EQ(d.remaining, std::max<int64_t>(0, after.capacity - used))
            << used << " of " << setting.capacity << " were used";
        // The first call obeys the new limit.
        EXPECT_FALSE(new_one.Check("k", d.remaining + 1, t).allowed);
        if (d.remaining > 0) {
          EXPECT_TRUE(new_one.Check("k", d.remaining, t).allowed);
        }
        EXPECT_EQ(new_one.Peek("k", 1, t).remaining, 0);
      });
}

TEST_P(ReplaceLaw, UsedIsRoundedUpAtAnyTime) {
  if (!engine().remains_what_is_not_used) return;
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        if (setting.counts_denied) return;
        const Harness harness = factory().make();
        const std::optional<Limit> other =
            WithOtherCount(engine(), limit, rng_, harness.store->Now());
        if (!other) return;
        SCOPED_TRACE("replaced by " + ToText(*other));
        const Setting after = Explore(factory(), engine(), *other, rng_);
        Driver old_one(harness, limit, engine().registry);
        Driver new_one(harness, *other, engine().registry);
        Demand demand(setting, rng_);
        Decision last = old_one.Peek("k", 1, demand.t());
        for (int i = 0; i < 20; ++i) {
          last = old_one.Check("k", demand.Cost(last.remaining), demand.t());
          demand.Next(last);
        }
        const int64_t t = demand.t();
        if (t > std::min(setting.end, after.end)) return;
        const int64_t used =
            setting.capacity - old_one.Peek("k", 1, t).remaining;
        EXPECT_EQ(new_one.Peek("k", 1, t).remaining,
                  std::max<int64_t>(0, after.capacity - used));
      });
}

TEST_P(ReplaceLaw, TwoLimitsAtOnceStayWithinTheLarger) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const Harness harness = factory().make();
                 const Limit other =
                     RandomLimit(engine(), rng_, harness.store->Now());
                 SCOPED_TRACE("together with " + ToText(other));
                 const Setting two = Explore(factory(), engine(), other, rng_);
                 const int64_t t =
                     NextBeginning(factory(), engine(), limit, setting.start);
                 if (t > std::min(setting.end, two.end)) return;
                 Driver a(harness, limit, engine().registry);
                 Driver b(harness, other, engine().registry);
                 int64_t granted = 0;
                 for (int i = 0; i < 60; ++i) {
                   Driver& driver = rng_.OneIn(2) ? a : b;
                   int64_t cost = driver.Peek("k", 1, t).remaining;
                   if (!rng_.OneIn(3)) cost = rng_.LogUniform(1, cost + 1);
                   if (driver.Check("k", cost, t).allowed) granted += cost;
                 }
                 EXPECT_LE(granted, std::max(setting.capacity, two.capacity));
               });
}

TEST_P(ReplaceLaw, ALowerLimitDoesNotLowerWhatIsUsed) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        if (setting.counts_denied) return;
        const Harness harness = factory().make();
        const Limit other = RandomLimit(engine(), rng_, harness.store->Now());
        SCOPED_TRACE("lowered to " + ToText(other));
        const Setting low = Explore(factory(), engine(), other, rng_);
        if (low.capacity >= setting.capacity || low.counts_denied) return;
        const int64_t t = setting.start;
        if (t > low.end) return;
        Driver before(harness, limit, engine().registry);
        Driver lowered(harness, other, engine().registry);
        before.Check("k", rng_.Uniform(low.capacity, setting.capacity), t);
        const std::string was = ToText(before.Peek("k", 1, t));
        lowered.Check("k", low.capacity + 1, t);
        lowered.Peek("k", 1, t);
        EXPECT_EQ(ToText(before.Peek("k", 1, t)), was);
      });
}

TEST_P(ReplaceLaw, ARefundGivesBackWhatWasUsedUnderTheOldLimit) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const Harness harness = factory().make();
                 const Limit other =
                     RandomLimit(engine(), rng_, harness.store->Now());
                 SCOPED_TRACE("replaced by " + ToText(other));
                 const int64_t t = setting.start;
                 if (t > Explore(factory(), engine(), other, rng_).end) return;
                 Driver before(harness, limit, engine().registry);
                 Driver after(harness, other, engine().registry);
                 Driver twin(factory().make(), limit, engine().registry);
                 const int64_t used = rng_.LogUniform(1, setting.capacity);
                 const int64_t given_back = rng_.LogUniform(1, used);
                 before.Check("k", used, t);
                 twin.Check("k", used, t);
                 after.Refund("k", given_back, t);
                 twin.Refund("k", given_back, t);
                 const uint64_t seed = rng_.Next();
                 EXPECT_EQ(LaterDecisions(before, "k", setting, t, seed),
                           LaterDecisions(twin, "k", setting, t, seed))
                     << given_back << " of " << used << " given back";
               });
}

TEST_P(ReplaceLaw, TheSameParametersAgainChangeNothing) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        const Harness harness = factory().make();
        Driver first(harness, limit, engine().registry);
        Driver again(harness, limit, engine().registry);
        Driver backwards(harness, Backwards(limit), engine().registry);
        const EngineInfo* info = engine().registry->Find(engine().algorithm);
        Driver in_full(harness, InFull(*info, limit), engine().registry);
        Driver twin(factory().make(), limit, engine().registry);
        Demand demand(setting, rng_);
        Decision last = twin.Peek("k", 1, demand.t());
        for (int i = 0; i < 60 && !demand.over(); ++i) {
          const int64_t cost = demand.Cost(last.remaining);
          Driver* const drivers[] = {&first, &again, &backwards, &in_full};
          Driver& driver = *drivers[rng_.Uniform(0, 3)];
          last = twin.Check("k", cost, demand.t());
          ASSERT_EQ(ToText(driver.Check("k", cost, demand.t())), ToText(last));
          demand.Next(last);
        }
      });
}

TEST_P(ReplaceLaw, ALimitOfZeroInBetweenKeepsWhatIsUsed) {
  const EngineInfo* info = engine().registry->Find(engine().algorithm);
  if (info->fields.empty() || info->fields[0].type != FieldType::kCount) {
    return;  // It has no limit to set to 0.
  }
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const Harness harness = factory().make();
                 Driver driver(harness, limit, engine().registry);
                 const int64_t t = setting.start;
                 driver.Check("k", rng_.Uniform(1, setting.capacity), t);
                 const std::string was = ToText(driver.Peek("k", 1, t));
                 Driver none(harness,
                             limit.With(info->fields[0].name, int64_t{0}),
                             engine().registry);
                 EXPECT_TRUE(none.Check("k", 1, t).never());
                 EXPECT_EQ(ToText(driver.Peek("k", 1, t)), was);
               });
}

}  // namespace testing
}  // namespace weir
