// A limit is checked once, when it is compiled: what is accepted, what is
// refused, and what the refusal says.
#include "weir/limit.h"

#include <chrono>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weir/registry.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr Time kNow = TimeFromMicros(1'700'000'000'000'000);
constexpr int64_t kTrillion = 1'000'000'000'000;
constexpr Micros kYear(int64_t{365} * 24 * 3600 * 1'000'000);

absl::Status CompileAt(const Limit& limit, Time now) {
  return Registry::BuiltIn().Compile(limit, now).status();
}

absl::Status Compiled(const Limit& limit) { return CompileAt(limit, kNow); }

struct Refused {
  std::string name;
  Limit limit;
  // What the message must hold: the field first, the value, what is allowed.
  std::vector<std::string> says;
};

std::ostream& operator<<(std::ostream& out, const Refused& r) {
  return out << r.name;
}

std::vector<Refused> AllRefused() {
  const Limit gcra = Limit::Gcra(5, seconds(1));
  const Limit bucket = Limit::TokenBucket(5, 1, seconds(1));
  const Limit fixed = Limit::FixedWindow(5, seconds(1));
  const Limit log = Limit::SlidingLog(5, seconds(1));
  const std::string counts = "1 to 1000000000000";
  const std::string decays = "a number above 1 and up to 1000000000000";
  const std::string fading =
      "a number above 0 and up to 1000000000000, or 0 to deny all";
  return {
      {"NoAlgorithm", Limit::Of("leaky"), {"algorithm", "leaky", "gcra"}},
      {"EmptyAlgorithm", Limit::Of(""), {"algorithm", "\"\"", "unlimited"}},
      {"LimitMissing",
       Limit::Of("gcra").With("window", Micros(1)),
       {"limit", "missing", counts + ", or 0 to deny all"}},
      {"WindowMissing",
       Limit::Of("gcra").With("limit", int64_t{1}),
       {"window", "missing", "1us"}},
      {"LimitNegative", Limit::Gcra(-1, seconds(1)), {"limit", "-1", counts}},
      {"LimitTooLarge",
       Limit::Gcra(kTrillion + 1, seconds(1)),
       {"limit", "1000000000001", counts}},
      {"WindowZero", Limit::Gcra(5, seconds(0)), {"window", "0s", "1us"}},
      {"WindowNegative", Limit::Gcra(5, Micros(-7)), {"window", "-7", "1us"}},
      {"WindowTooLong",
       Limit::Gcra(kTrillion, Micros(kMaxWindowUs + 1)).Burst(1),
       {"window", "3162240000000001", "100 years"}},
      {"BurstZero", gcra.Burst(0), {"burst", "0", counts}},
      {"BurstNegative", gcra.Burst(-3), {"burst", "-3", counts}},
      {"BurstTooLarge",
       gcra.Burst(kTrillion + 1),
       {"burst", "1000000000001", counts}},
      {"MaxWaitNegative", gcra.MaxWait(Micros(-1)), {"max_wait", "-1"}},
      {"LimitIsNoCount",
       Limit::Of("gcra").With("limit", 2.5).With("window", Micros(1)),
       {"limit", "2.5", "whole number, " + counts + ", or 0 to deny all"}},
      {"WindowIsNoDuration",
       Limit::Of("gcra").With("limit", int64_t{1}).With("window", int64_t{1}),
       {"window", "1", "duration"}},
      {"BurstIsAWord",
       gcra.With("burst", std::string("lots")),
       {"burst", "lots", "whole number"}},
      {"BurstIsABool", gcra.With("burst", true), {"burst", "true"}},
      {"NoSuchField",
       gcra.With("brust", int64_t{5}),
       {"brust", "gcra", "limit, window, burst, max_wait"}},
      {"FieldOfAnotherAlgorithm",
       log.With("burst", int64_t{5}),
       {"burst", "sliding_log", "limit, window"}},
      {"CapacityNegative",
       Limit::TokenBucket(-1, 1, seconds(1)),
       {"capacity", "-1", counts}},
      {"RefillZero",
       Limit::TokenBucket(5, 0, seconds(1)),
       {"refill", "0", counts}},
      {"IntervalZero",
       Limit::TokenBucket(5, 1, seconds(0)),
       {"interval", "0s", "1us"}},
      {"BucketWithLimit",
       bucket.With("limit", int64_t{5}),
       {"limit", "token_bucket", "capacity, refill, interval"}},
      {"LeakZero", Limit::LeakyBucket(5, 0, seconds(1)), {"leak", "0", counts}},
      {"LeakyIntervalNegative",
       Limit::LeakyBucket(5, 1, seconds(-1)),
       {"interval", "-1s"}},
      {"UniformIntervalZero",
       Limit::Uniform(Micros(0)),
       {"interval", "0s", "1us"}},
      {"FixedLimitNegative",
       Limit::FixedWindow(-5, seconds(1)),
       {"limit", "-5", counts}},
      {"FixedWindowZero",
       Limit::FixedWindow(5, seconds(0)),
       {"window", "0s", "1us"}},
      {"AlignUnknown",
       fixed.Align("Epoch"),
       {"align", "\"Epoch\"", "first", "epoch"}},
      {"AlignEmpty", fixed.Align(""), {"align", "\"\"", "first", "epoch"}},
      {"AlignIsBoth", fixed.Align("first|epoch"), {"align", "first|epoch"}},
      {"AlignIsNoWord",
       fixed.With("align", int64_t{1}),
       {"align", "1", "word"}},
      {"OffsetIsNoDuration",
       fixed.Align(Limit::kEpoch).With("offset", int64_t{1}),
       {"offset", "1", "duration"}},
      {"LogTooLarge",
       Limit::SlidingLog(10'000'001, seconds(1)),
       {"limit", "10000001", "1 to 10000000, or 0 to deny all", "gcra",
        "sliding_window_counter"}},
      {"LogListTooLarge",
       Limit::SlidingLogList(10'000'001, seconds(1)),
       {"limit", "10000001", "1 to 10000000, or 0 to deny all", "gcra",
        "sliding_window_counter"}},
      {"LogWindowZero",
       Limit::SlidingLog(5, seconds(0)),
       {"window", "0s", "1us"}},
      {"OffsetWithoutAGrid",
       fixed.With("offset", Micros(seconds(90))),
       {"offset", "90s", "epoch"}},
      {"ResolutionAboveTheWindow",
       Limit::BucketedWindow(5, seconds(10), seconds(11)),
       {"resolution", "11s", "1us to 10s"}},
      {"BurstAboveTheLimit",
       Limit::WindowedTokenBucket(5, seconds(10), 6),
       {"burst", "6", "1 to 5"}},
      {"CounterReachesPastTheEndOfTime",
       Limit::SlidingWindowCounter(5, 120 * kYear),
       {"window"}},
      {"DecayOfOne",
       Limit::Ar1(5, 1, seconds(1)),
       {"decay_factor", "1 is", decays}},
      {"DecayTooGreat",
       Limit::Ar1(5, 2e12, seconds(1)),
       {"decay_factor", "2000000000000 is", decays}},
      {"DecayIsAWord",
       Limit::Ar1(5, 2, seconds(1)).With("decay_factor", std::string("x")),
       {"decay_factor", "wanted: " + decays}},
      {"FadingLimitTooGreat",
       Limit::Ar1(2e12, 2, seconds(1)),
       {"limit", "2000000000000 is", fading}},

      {"DecayThatNeverEnds",
       Limit::Ar1(5, 1.0000001, hours(24)),
       {"decay_factor", "1.0000001", "1d", "100 years"}},
      {"FadingLimitBelowZero",
       Limit::Ar1(-0.5, 2, seconds(1)),
       {"limit", "-0.5", fading}},
      {"UnlimitedWithField",
       Limit::Unlimited().With("limit", int64_t{5}),
       {"limit", "unlimited"}},
      {"ReachesPastTheEndOfTime",
       Limit::Gcra(1, 100 * kYear).Burst(100),
       {"burst", "100", "2255", "at most 2"}},
      {"BucketReachesPastTheEndOfTime",
       Limit::TokenBucket(100, 1, 100 * kYear),
       {"capacity", "100", "2255"}},
  };
}

class RefusedLimit : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedLimit, NamesTheFieldTheValueAndWhatIsAllowed) {
  const absl::Status status = Compiled(GetParam().limit);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message().data(), status.message().size());
  EXPECT_EQ(message.find(GetParam().says.front()), 0u) << message;
  for (const std::string& part : GetParam().says) {
    EXPECT_THAT(message, HasSubstr(part));
  }
}

// An interval is no limit: 0 of it does not deny all.
TEST(Limit, OffersZeroOnlyWhereItDeniesAll) {
  for (const Limit& limit : {Limit::Uniform(seconds(0)), Limit::Of("uniform"),
                             Limit::Of("uniform").With("interval", int64_t{0}),
                             Limit::Gcra(5, seconds(1)).Burst(0)}) {
    EXPECT_THAT(std::string(Compiled(limit).message()),
                Not(HasSubstr("deny all")));
  }
}

INSTANTIATE_TEST_SUITE_P(Limit, RefusedLimit, ::testing::ValuesIn(AllRefused()),
                         [](const ::testing::TestParamInfo<Refused>& i) {
                           return i.param.name;
                         });

struct Accepted {
  std::string name;
  Limit limit;
};

std::ostream& operator<<(std::ostream& out, const Accepted& a) {
  return out << a.name;
}

class AcceptedLimit : public ::testing::TestWithParam<Accepted> {};

TEST_P(AcceptedLimit, Compiles) {
  EXPECT_TRUE(Compiled(GetParam().limit).ok()) << Compiled(GetParam().limit);
}

INSTANTIATE_TEST_SUITE_P(
    Limit, AcceptedLimit,
    ::testing::Values(
        Accepted{"OneAMicrosecond", Limit::Gcra(1, Micros(1))},
        Accepted{"ATrillionAMicrosecond", Limit::Gcra(kTrillion, Micros(1))},
        Accepted{"ATrillionACentury",
                 Limit::Gcra(kTrillion, Micros(kMaxWindowUs))},
        Accepted{"OneACentury", Limit::Gcra(1, Micros(kMaxWindowUs))},
        Accepted{"BurstOfATrillion",
                 Limit::Gcra(kTrillion, Micros(1)).Burst(kTrillion)},
        Accepted{"Coprime",
                 Limit::Gcra(999'999'999'989, Micros(3'155'759'999'999'983))},
        Accepted{"BurstAboveTheLimit",
                 Limit::Gcra(1, seconds(1)).Burst(1'000'000)},
        Accepted{"NoWait", Limit::Gcra(5, seconds(1)).MaxWait(Micros(0))},
        Accepted{"Bucket", Limit::TokenBucket(kTrillion, 1, Micros(1))},
        Accepted{"Leaky", Limit::LeakyBucket(1, kTrillion, Micros(1))},
        Accepted{"UniformACentury", Limit::Uniform(Micros(kMaxWindowUs))},
        Accepted{"FixedACentury",
                 Limit::FixedWindow(kTrillion, Micros(kMaxWindowUs))},
        Accepted{"EpochWithOffset", Limit::FixedWindow(5, seconds(60))
                                        .Align(Limit::kEpoch)
                                        .Offset(seconds(7))},
        Accepted{"OffsetBackwards", Limit::FixedWindow(5, seconds(60))
                                        .Align(Limit::kEpoch)
                                        .Offset(seconds(-7))},
        Accepted{"LogAsLargeAsTheyCome",
                 Limit::SlidingLog(10'000'000, Micros(kMaxWindowUs))},
        Accepted{"Unlimited", Limit::Unlimited()}),
    [](const ::testing::TestParamInfo<Accepted>& i) { return i.param.name; });

TEST(LimitReach, WhatItReachesIntoTheFutureStaysBelowTwoToTheFiftyThird) {
  const auto at = [](int64_t now, int64_t limit, int64_t window,
                     int64_t burst) {
    return CompileAt(Limit::Gcra(limit, Micros(window)).Burst(burst),
                     TimeFromMicros(now));
  };
  // Exactly to the last microsecond, and one further.
  EXPECT_TRUE(at(kMaxExact - 1000, 1, 1000, 1).ok());
  EXPECT_FALSE(at(kMaxExact - 999, 1, 1000, 1).ok());
  EXPECT_TRUE(at(kMaxExact - 1000, 1, 100, 10).ok());
  EXPECT_FALSE(at(kMaxExact - 1000, 1, 100, 11).ok());
  // Part of a microsecond counts as one: 7 / 3 us is 3.
  EXPECT_TRUE(at(kMaxExact - 3, 3, 7, 1).ok());
  EXPECT_FALSE(at(kMaxExact - 2, 3, 7, 1).ok());
  // The product itself may be far above 64 bits.
  EXPECT_TRUE(at(1, kTrillion, kMaxWindowUs, kTrillion).ok());
  // The message names a burst that would do.
  const absl::Status s = at(kMaxExact - 1000, 1, 100, 500);
  EXPECT_THAT(std::string(s.message()), HasSubstr("at most 10"));
}

class EveryEngine : public ::testing::TestWithParam<const EngineInfo*> {};

TEST_P(EveryEngine, ALimitOfZeroIsBuiltWhateverItsOtherFields) {
  const EngineInfo& engine = *GetParam();
  if (engine.fields[0].type != FieldType::kCount) return;
  Limit zero = Limit::Of(engine.name).With(engine.fields[0].name, int64_t{0});
  absl::StatusOr<CompiledLimit> made = Registry::BuiltIn().Compile(zero, kNow);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(made->denies_all);
  EXPECT_FALSE(made->unlimited());
  for (const Field& field : engine.fields) {
    if (&field == &engine.fields[0]) continue;
    if (field.type == FieldType::kCount) {
      zero = zero.With(field.name, int64_t{-5});
    } else if (field.type == FieldType::kDuration) {
      zero = zero.With(field.name, Micros(-5));
    } else if (field.type == FieldType::kWord) {
      zero = zero.With(field.name, std::string("nonsense"));
    }
  }
  made = Registry::BuiltIn().Compile(zero, kNow);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(made->denies_all);
}

TEST_P(EveryEngine, SaysWhatItIs) {
  const EngineInfo& engine = *GetParam();
  EXPECT_EQ(Registry::BuiltIn().Find(engine.name), &engine);
  EXPECT_FALSE(engine.doc.summary.empty());
  EXPECT_FALSE(engine.doc.worst_case.empty());
  EXPECT_FALSE(engine.doc.state.empty());
  EXPECT_FALSE(engine.doc.choose.empty());
  EXPECT_FALSE(engine.doc.source.empty());
  ASSERT_FALSE(engine.fields.empty());
  for (const Field& field : engine.fields) {
    EXPECT_FALSE(field.name.empty());
    EXPECT_FALSE(field.doc.empty()) << field.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Limit, EveryEngine,
    ::testing::ValuesIn(Registry::BuiltIn().engines().begin(),
                        Registry::BuiltIn().engines().end()),
    [](const ::testing::TestParamInfo<const EngineInfo*>& i) {
      return std::string(i.param->name);
    });

TEST(LimitText, IsTheSameForTheSameFieldsInAnyOrder) {
  const auto text = [](const Limit& limit) {
    return Registry::BuiltIn().Compile(limit, kNow)->text;
  };
  const Limit a = Limit::Of("gcra")
                      .With("limit", int64_t{5})
                      .With("window", Micros(7))
                      .With("burst", int64_t{3});
  const Limit b = Limit::Of("gcra")
                      .With("burst", int64_t{3})
                      .With("window", Micros(7))
                      .With("limit", int64_t{5});
  EXPECT_EQ(text(a), text(b));
  EXPECT_EQ(text(a), text(Limit::Gcra(5, Micros(7)).Burst(3)));
  EXPECT_NE(text(a), text(a.With("burst", int64_t{4})));
  EXPECT_NE(text(a), text(a.MaxWait(Micros(1))));
  EXPECT_NE(text(Limit::TokenBucket(1, 2, Micros(3))),
            text(Limit::LeakyBucket(1, 2, Micros(3))));
}

TEST(LimitFields, AreThoseOfTheConstructor) {
  const auto n = [](int64_t v) { return FieldValue(v); };
  const auto us = [](int64_t v) { return FieldValue(Micros(v)); };
  EXPECT_EQ(Limit::Gcra(5, Micros(7)).algorithm(), "gcra");
  EXPECT_THAT(Limit::Gcra(5, Micros(7)).Burst(3).MaxWait(Micros(9)).fields(),
              ElementsAre(Pair("limit", n(5)), Pair("window", us(7)),
                          Pair("burst", n(3)), Pair("max_wait", us(9))));
  EXPECT_THAT(Limit::TokenBucket(5, 2, Micros(7)).fields(),
              ElementsAre(Pair("capacity", n(5)), Pair("refill", n(2)),
                          Pair("interval", us(7))));
  EXPECT_THAT(Limit::LeakyBucket(5, 2, Micros(7)).fields(),
              ElementsAre(Pair("capacity", n(5)), Pair("leak", n(2)),
                          Pair("interval", us(7))));
  EXPECT_THAT(Limit::Uniform(Micros(7)).fields(),
              ElementsAre(Pair("interval", us(7))));
  EXPECT_THAT(Limit::FixedWindow(5, Micros(7))
                  .Align(Limit::kEpoch)
                  .Offset(Micros(2))
                  .fields(),
              ElementsAre(Pair("limit", n(5)), Pair("window", us(7)),
                          Pair("align", FieldValue(std::string("epoch"))),
                          Pair("offset", us(2))));
  EXPECT_THAT(Limit::SlidingLog(5, Micros(7)).fields(),
              ElementsAre(Pair("limit", n(5)), Pair("window", us(7))));
  EXPECT_THAT(Limit::Unlimited().fields(), ElementsAre());
}

TEST(LimitFields, KeepTheLaterOfTwoValues) {
  const Limit limit = Limit::Gcra(5, Micros(7)).Burst(3);
  EXPECT_THAT(limit.Burst(4).fields(), ::testing::SizeIs(3));
  EXPECT_EQ(Fields(limit.Burst(4)).Count("burst"), 4);
  EXPECT_EQ(Fields(limit).Count("burst"), 3);  // the first one is untouched
}

TEST(LimitTraits, TellCapacityAndWindow) {
  const auto traits = [](const Limit& limit) {
    return Registry::BuiltIn().Compile(limit, kNow)->traits;
  };
  EXPECT_EQ(traits(Limit::Gcra(5, Micros(7))).capacity, 5);
  EXPECT_EQ(traits(Limit::Gcra(5, Micros(7)).Burst(30)).capacity, 30);
  EXPECT_EQ(traits(Limit::TokenBucket(9, 2, Micros(7))).capacity, 9);
  EXPECT_EQ(traits(Limit::Uniform(Micros(7))).capacity, 1);
  EXPECT_EQ(traits(Limit::Gcra(5, Micros(7))).window_us, 7);
  EXPECT_EQ(traits(Limit::SlidingLog(5, Micros(7))).window_us, 7);
  EXPECT_EQ(traits(Limit::Unlimited()).capacity, kMaxExact);
}

TEST(RegistryAdd, TakesAnEngineOnceUnderAnyFreeName) {
  Registry registry = Registry::BuiltIn();
  const size_t before = registry.engines().size();
  static EngineInfo mine = *Registry::BuiltIn().Find("gcra");
  mine.name = "mine";
  EXPECT_EQ(registry.Find("mine"), nullptr);
  EXPECT_TRUE(registry.Add(mine).ok());
  EXPECT_EQ(registry.Find("mine"), &mine);
  EXPECT_EQ(registry.Add(mine).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(registry.engines().size(), before + 1);
  EXPECT_EQ(Registry::BuiltIn().Find("mine"), nullptr);

  static EngineInfo taken = mine;
  for (const char* name : {"gcra", "unlimited"}) {
    taken.name = name;
    EXPECT_EQ(registry.Add(taken).code(), absl::StatusCode::kAlreadyExists)
        << name;
  }
}

}  // namespace
}  // namespace weir
