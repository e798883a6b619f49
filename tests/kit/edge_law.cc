// Law 6: the ends of the range. A cost equal to the capacity is ordinary, one
// above it never passes; a limit of 0 denies everything; unlimited asks nobody.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(EdgeLaw)

namespace {

// Counts the calls that reach the store behind it.
class CountingStore final : public Store {
 public:
  explicit CountingStore(std::shared_ptr<Store> store)
      : store_(std::move(store)) {}

  Time Now() const override { return store_->Now(); }
  absl::StatusOr<std::shared_ptr<const StoreRule>> Attach(
      std::string_view name, const CompiledLimit& limit) override {
    return store_->Attach(name, limit);
  }
  absl::Status Run(Op op, std::optional<Time> now, const Step* steps,
                   Outcome* outcomes, size_t count) override {
    ++calls;
    steps_seen += static_cast<int64_t>(count);
    return store_->Run(op, now, steps, outcomes, count);
  }

  int64_t calls = 0;
  int64_t steps_seen = 0;

 private:
  std::shared_ptr<Store> store_;
};

}  // namespace

TEST_P(EdgeLaw, ACostOfTheWholeCapacityIsOrdinary) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 Driver driver(factory().make(), limit, engine().registry);
                 const int64_t t = setting.start;
                 Decision d = driver.Check("k", setting.capacity, t);
                 EXPECT_TRUE(d.allowed);
                 EXPECT_EQ(d.remaining, 0);
                 d = driver.Check("k", setting.capacity, t);
                 EXPECT_FALSE(d.allowed);
                 ASSERT_FALSE(d.never());
                 d = driver.Check("k", setting.capacity,
                                  t + d.retry_after->count());
                 EXPECT_TRUE(d.allowed);
               });
}

TEST_P(EdgeLaw, ACostAboveTheCapacityNeverPassesAndChangesNothing) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 const int64_t t = setting.start;
                 const absl::StatusOr<CompiledLimit> compiled =
                     engine().registry->Compile(limit, TimeFromMicros(t));
                 ASSERT_TRUE(compiled.ok());
                 Driver driver(factory().make(), limit, engine().registry);
                 for (const int64_t cost :
                      {setting.capacity + 1, 2 * setting.capacity, kMaxExact}) {
                   const Decision d = driver.Check("k", cost, t);
                   EXPECT_FALSE(d.allowed) << cost;
                   EXPECT_TRUE(d.never()) << cost;
                   if (compiled->traits.count_denied) continue;
                   EXPECT_EQ(d.remaining, setting.capacity);
                   EXPECT_EQ(d.reset_after, Micros(0));
                 }
               });
}

TEST_P(EdgeLaw, CostsOutsideTheRangeAreErrorsThatChangeNothing) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        Driver driver(factory().make(), limit, engine().registry);
        const int64_t t = setting.start;
        driver.Check("k", 1, t);
        const std::string before = ToText(driver.Peek("k", 1, t));
        for (const Op op : {Op::kCheck, Op::kPeek, Op::kRefund}) {
          for (const int64_t cost :
               {int64_t{-1}, -kMaxExact, INT64_MIN, kMaxExact + 1, INT64_MAX}) {
            EXPECT_EQ(driver.Try(op, "k", cost, t).status().code(),
                      absl::StatusCode::kInvalidArgument)
                << cost;
          }
        }
        EXPECT_EQ(ToText(driver.Peek("k", 1, t)), before);
      });
}

TEST_P(EdgeLaw, TimesOutsideTheRangeAreErrors) {
  Driver driver(factory().make(), engine().samples.at(0), engine().registry);
  for (const int64_t t :
       {kMaxExact + 1, -kMaxExact - 1, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(driver.Try(Op::kCheck, "k", 1, t).status().code(),
              absl::StatusCode::kInvalidArgument)
        << t;
  }
}

TEST_P(EdgeLaw, ALimitOfZeroDeniesEverythingForEver) {
  const EngineInfo* info = engine().registry->Find(engine().algorithm);
  ASSERT_NE(info, nullptr);
  if (info->fields.empty() || info->fields[0].type != FieldType::kCount) {
    return;  // It has no limit to set to 0.
  }
  // Alone, and whatever the other fields say.
  const Limit none =
      Limit::Of(engine().algorithm).With(info->fields[0].name, int64_t{0});
  const Limit sample =
      engine().samples.at(0).With(info->fields[0].name, int64_t{0});
  for (const Limit& limit : {none, sample}) {
    SCOPED_TRACE(ToText(limit));
    const Harness harness = factory().make();
    Driver driver(harness, limit, engine().registry);
    const int64_t t = ToMicros(harness.store->Now());
    for (const Op op : {Op::kPeek, Op::kCheck}) {
      for (const int64_t cost : {int64_t{0}, int64_t{1}, kMaxExact}) {
        const absl::StatusOr<Decision> d = driver.Try(op, "k", cost, t);
        ASSERT_TRUE(d.ok()) << d.status();
        EXPECT_FALSE(d->allowed);
        EXPECT_TRUE(d->never());
        EXPECT_EQ(d->limit, 0);
        EXPECT_EQ(d->remaining, 0);
        EXPECT_EQ(d->reset_after, Micros(0));
      }
    }
    EXPECT_EQ(driver.Try(Op::kCheck, "k", -1, t).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_LE(KeysOf(harness), 0);
  }
}

TEST_P(EdgeLaw, UnlimitedAllowsAndAsksNoStore) {
  Harness harness = factory().make();
  const int64_t t = ToMicros(harness.store->Now());
  auto counting = std::make_shared<CountingStore>(harness.store);
  harness.store = counting;
  Driver driver(harness, Limit::Unlimited(), engine().registry);
  for (const int64_t cost : {int64_t{0}, int64_t{1}, kMaxExact}) {
    for (const Op op : {Op::kCheck, Op::kPeek, Op::kRefund, Op::kReset}) {
      const absl::StatusOr<Decision> d = driver.Try(op, "k", cost, t);
      ASSERT_TRUE(d.ok()) << d.status();
      EXPECT_TRUE(d->allowed);
      EXPECT_EQ(d->limit, kMaxExact);
      EXPECT_EQ(d->remaining, kMaxExact);
      EXPECT_EQ(d->retry_after, Micros(0));
      EXPECT_EQ(d->reset_after, Micros(0));
    }
  }
  EXPECT_EQ(counting->calls, 0);
}

TEST_P(EdgeLaw, UnlimitedBesideALimitLeavesTheNumbersToIt) {
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        std::vector<Rule> rules;
        rules.push_back(Rule{"all", Limit::Unlimited(), false, std::nullopt});
        rules.push_back(Rule{"some", limit, false, std::nullopt});
        Driver driver(factory().make(), rules, engine().registry);
        Decision d = driver.Check("k", setting.capacity, setting.start);
        EXPECT_TRUE(d.allowed);
        EXPECT_EQ(d.rule, 1);
        EXPECT_EQ(d.limit, setting.capacity);
        EXPECT_EQ(d.remaining, 0);
        d = driver.Check("k", 1, setting.start);
        EXPECT_FALSE(d.allowed);
        EXPECT_EQ(d.rule, 1);
        EXPECT_TRUE(d.rules()[0].allowed);
      });
}

}  // namespace testing
}  // namespace weir
