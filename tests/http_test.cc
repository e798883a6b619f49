#include "weir/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/http_kit.h"
#include "weir/registry.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::weir::testing::Rng;
using ::weir::testing::Rounds;
using ::weir::testing::Seed;
using ::weir::testing::TestRng;
using namespace http_kit;
using namespace std::chrono_literals;
using namespace std::string_literals;

constexpr int64_t kMaxSfInteger = 999'999'999'999'999;

TEST(Http, NamesArriveAsTheyAre) {
  const std::vector<std::string> names = {
      "default", "", " ", "say \"hi\"", "back\\slash", "\\\"", "a,b;q=9", "~!"};
  std::vector<Rule> rules;
  std::vector<RuleVerdict> verdicts;
  for (const std::string& name : names) {
    rules.push_back(Named(name));
    verdicts.push_back(Passed(static_cast<int64_t>(verdicts.size()), 1s));
  }
  const HttpWriter writer = Make(rules);
  const NamesAndValues fields = Write(writer, Of(verdicts));
  const auto policies = ReadPolicies(Value(fields, "RateLimit-Policy"));
  const auto limits = ReadLimits(Value(fields, "RateLimit"));
  ASSERT_EQ(policies.size(), names.size());
  ASSERT_EQ(limits.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(policies[i], (Policy{names[i], 100, 60}));
    EXPECT_EQ(limits[i], (ServiceLimit{names[i], static_cast<int64_t>(i), 1}));
  }
}

TEST(Http, RefusesNamesThatAStringCannotHold) {
  for (const std::string& name : {"caf\xC3\xA9"s, "a\0b"s, "tab\t"s, "\x7F"s}) {
    EXPECT_THAT(Refusal({Named(name)}, {}), HasSubstr("name: "));
    // Families without names take any.
    HttpOptions trio;
    trio.rate_limit = trio.rate_limit_policy = false;
    trio.x_rate_limit = true;
    EXPECT_EQ(Refusal({Named(name)}, trio), "(accepted)");
    HttpOptions renamed;
    renamed.rules = {{name, "cafe"}};
    EXPECT_THAT(PoliciesOf({Named(name)}, renamed),
                ElementsAre(Policy{"cafe", 100, 60}));
    HttpOptions hidden;
    hidden.rules = {{name}};
    hidden.rules[0].hidden = true;
    EXPECT_EQ(Refusal({Named(name)}, hidden), "(accepted)");
  }
  EXPECT_THAT(Refusal({Named("caf\xC3\xA9")}, {}),
              HasSubstr("has the byte 0xc3 at 3"));
}

struct QuotaCase {
  Limit limit;
  int64_t q;
  int64_t w;  // -1: not there
};
std::ostream& operator<<(std::ostream& out, const QuotaCase& c) {
  return out << c.limit.algorithm() << " q=" << c.q << " w=" << c.w;
}

class HttpQuota : public ::testing::TestWithParam<QuotaCase> {};

TEST_P(HttpQuota, IsWhatCanBeUsedAtOnceAndTheRateIsTrue) {
  const QuotaCase& c = GetParam();
  // An engine that is not in the list has no fields to write.
  if (Registry::BuiltIn().Find(c.limit.algorithm()) == nullptr) return;
  EXPECT_THAT(PoliciesOf({Named("n", c.limit)}),
              ElementsAre(Policy{"n", c.q, c.w}));
}

INSTANTIATE_TEST_SUITE_P(
    EveryAlgorithm, HttpQuota,
    ::testing::Values(QuotaCase{Limit::Gcra(100, 1min), 100, 60},
                      QuotaCase{Limit::Gcra(100, 1min).Burst(20), 20, 12},
                      QuotaCase{Limit::Gcra(100, 1min).Burst(1000), 1000, 600},
                      QuotaCase{Limit::Gcra(7, 3s).Burst(8), 8, 4},
                      QuotaCase{Limit::TokenBucket(1000, 10, 1s), 1000, 100},
                      QuotaCase{Limit::LeakyBucket(50, 1, 2s), 50, 100},
                      QuotaCase{Limit::Uniform(90s), 1, 90},
                      QuotaCase{Limit::FixedWindow(1000, 1h), 1000, 3600},
                      QuotaCase{Limit::SlidingLog(5, 10s), 5, 10},
                      QuotaCase{Limit::SlidingLogList(5, 10s), 5, 10},
                      QuotaCase{Limit::BucketedWindow(5, 10s, 1s), 5, 10},
                      QuotaCase{Limit::SlidingWindowCounter(5, 10s), 5, 10},
                      QuotaCase{Limit::WindowedTokenBucket(100, 1min, 10), 10,
                                6},
                      // Fades until nothing of it matters: 57 halvings.
                      QuotaCase{Limit::Ar1(10.5, 2, 1s), 10, 57}));

INSTANTIATE_TEST_SUITE_P(
    WholeSecondsUpwards, HttpQuota,
    ::testing::Values(QuotaCase{Limit::SlidingLog(5, 1us), 5, 1},
                      QuotaCase{Limit::SlidingLog(5, 1s), 5, 1},
                      QuotaCase{Limit::SlidingLog(5, 1000001us), 5, 2}));

INSTANTIATE_TEST_SUITE_P(
    Extremes, HttpQuota,
    ::testing::Values(QuotaCase{Limit::FixedWindow(1'000'000'000'000,
                                                   24h * 36600),
                                1'000'000'000'000, 3'162'240'000},
                      // A limit of 0 has no window.
                      QuotaCase{Limit::FixedWindow(0, 1min), 0, -1},
                      QuotaCase{Limit::TokenBucket(0, 10, 1s), 0, -1}));

TEST(Http, TheUserMayTellOtherNumbers) {
  HttpOptions options;
  options.rules.resize(2);
  options.rules[0].name = "bytes";
  options.rules[0].public_name = "bandwidth";
  options.rules[0].unit = "content-bytes";
  options.rules[1].name = "calls";
  options.rules[1].quota = 1500;
  options.rules[1].window = 1500ms;
  EXPECT_THAT(PoliciesOf({Named("calls"), Named("bytes")}, options),
              ElementsAre(Policy{"calls", 1500, 2},
                          Policy{"bandwidth", 100, 60, "content-bytes"}));
}

TEST(Http, LeastRemainingComesFirst) {
  const HttpWriter writer =
      Make({Named("a"), Named("b"), Named("c"), Named("d")});
  Decision d = Of({Passed(7, 7s), Passed(3, 3s), Passed(9, 9s), Passed(3, 4s)});
  EXPECT_THAT(LimitsOf(writer, d),
              ElementsAre(ServiceLimit{"b", 3, 3}, ServiceLimit{"d", 3, 4},
                          ServiceLimit{"a", 7, 7}, ServiceLimit{"c", 9, 9}));
  // The one that decided comes before its equals.
  d.rule = 3;
  EXPECT_EQ(LimitsOf(writer, d)[0], (ServiceLimit{"d", 3, 4}));
  // Policies stay as they are from one response to the next.
  const auto policies =
      ReadPolicies(Value(Write(writer, d), "RateLimit-Policy"));
  ASSERT_EQ(policies.size(), 4u);
  EXPECT_EQ(policies[0].name, "a");
  EXPECT_EQ(policies[3].name, "d");
}

TEST(Http, ShowsOnlyRulesThatBind) {
  std::vector<Rule> rules = {Named("watch"), Named("free", Limit::Unlimited()),
                             Named("secret"), Named("shown")};
  rules[0].observe = true;
  HttpOptions options;
  options.x_rate_limit = true;
  options.rules.resize(1);
  options.rules[0].name = "secret";
  options.rules[0].hidden = true;
  const HttpWriter writer = Make(rules, options);
  RuleVerdict watch = Refused(0, 5s, 5s);
  watch.observe = true;
  const Decision d =
      Of({watch, Passed(kMaxExact, 0s), Refused(0, 30s, 40s), Passed(5, 6s)});
  const NamesAndValues fields = Write(writer, d);
  EXPECT_THAT(
      fields,
      ElementsAre(Pair("RateLimit-Policy", "\"shown\";q=100;w=60"),
                  Pair("RateLimit", "\"shown\";r=5;t=6"),
                  Pair("X-RateLimit-Limit", "100"),
                  Pair("X-RateLimit-Remaining", "5"),
                  Pair("X-RateLimit-Reset", "6"), Pair("Retry-After", "30")));
  // Nor does the body tell who it was.
  EXPECT_THAT(writer.Problem(d).body, HasSubstr("\"violated-policies\":[]"));
}

TEST(Http, WritesNothingWhereNothingBinds) {
  HttpOptions options;
  options.x_rate_limit = true;
  const HttpWriter writer = Make({Named("free", Limit::Unlimited())}, options);
  EXPECT_THAT(Write(writer, Of({Passed(kMaxExact, 0s)})), IsEmpty());
}

TEST(Http, CarriesPartitionKeysOfAnyBytes) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::vector<Rule> rules = {Named("a"), Named("b"), Named("c")};
  const HttpWriter writer = Make(rules);
  const Decision d = Of({Passed(1, 1s), Passed(2, 1s), Passed(3, 1s)});
  for (size_t cut = 0; cut < 4; ++cut) {
    const std::string key = all.substr(cut);
    const std::vector<std::string_view> one = {key};
    HttpCall call;
    call.partition_keys = one;
    for (const ServiceLimit& l : LimitsOf(writer, d, call)) {
      EXPECT_EQ(l.pk, key);
    }
    for (const Policy& p : PoliciesOf(rules, {}, call)) EXPECT_EQ(p.pk, key);
  }
  const std::vector<std::string_view> each = {"x", "", "App-999"};
  HttpCall call;
  call.partition_keys = each;
  EXPECT_THAT(
      LimitsOf(writer, d, call),
      ElementsAre(ServiceLimit{"a", 1, 1, "x"}, ServiceLimit{"b", 2, 1, ""},
                  ServiceLimit{"c", 3, 1, "App-999"}));
  EXPECT_THAT(
      Value(Write(writer, d, call), "RateLimit-Policy"),
      HasSubstr("\"b\";q=100;w=60, \"c\";q=100;w=60;pk=:QXBwLTk5OQ==:"));
}

TEST(Http, AFreshKeyHasNoEffectiveWindow) {
  EXPECT_EQ(
      Value(Write(Make({Named("n")}), Of({Passed(100, 0s)})), "RateLimit"),
      "\"n\";r=100");
}

TEST(Http, CapsTheRateThatItSuggests) {
  HttpOptions options;
  options.cap_rate = true;
  const HttpWriter writer = Make({Named("n", Limit::Gcra(100, 1min))}, options);
  const auto t = [&writer](const RuleVerdict& v) {
    return LimitsOf(writer, Of({v})).at(0).t;
  };
  EXPECT_EQ(t(Passed(99, 600'000us)), 60);  // 99 at 100 a minute: 59.4 s
  EXPECT_EQ(t(Passed(50, 30s)), 30);
  EXPECT_EQ(t(Passed(10, 54s)), 54);
  EXPECT_EQ(t(Passed(100, 0s)), 60);
  // Retry-After would end earlier, so there is none.
  EXPECT_EQ(t(Refused(99, 5s, 600'000us)), -1);
}

TEST(Http, VisitsWhatItWrites) {
  HttpOptions options;
  options.x_rate_limit = true;
  const HttpWriter writer = Make({Named("n")}, options);
  const Decision d = Of({Refused(0, 5s, 50s)});
  NamesAndValues visited;
  writer.ForEach(d, {}, [&visited](std::string_view name, std::string_view v) {
    visited.emplace_back(std::string(name), std::string(v));
  });
  EXPECT_EQ(visited, Write(writer, d));
}

// What must hold of any decision, also of numbers that no engine gives.

TEST(Http, FieldsOfRandomDecisionsAreWellFormedAndAgree) {
  Rng rng = TestRng();
  const auto micros = [&rng] {
    return Micros(rng.OneIn(4) ? 0 : rng.LogUniform(1, kMaxExact));
  };
  for (int round = 0; round < Rounds(5'000, 200'000); ++round) {
    SCOPED_TRACE("WEIR_TEST_SEED=" + std::to_string(Seed()));
    HttpOptions options;
    options.cap_rate = rng.OneIn(2);
    options.retry_after_when_empty = rng.OneIn(2);
    if (rng.OneIn(2)) options.retry_after_never = 1h;
    if (rng.OneIn(2)) options.jitter = {0.5, 3s};
    std::vector<Rule> rules;
    std::vector<RuleVerdict> verdicts;
    for (int64_t n = rng.Uniform(1, 4); n > 0; --n) {
      rules.push_back(
          Named(std::string(static_cast<size_t>(n), '"'),
                Limit::FixedWindow(rng.LogUniform(1, 1'000'000'000'000),
                                   Micros(rng.LogUniform(1, kMaxWindowUs)))));
      const int64_t remaining = rng.OneIn(3) ? 0 : rng.LogUniform(1, kMaxExact);
      verdicts.push_back(Passed(remaining, micros()));
      if (!rng.OneIn(3)) continue;
      verdicts.back().allowed = false;
      verdicts.back().retry_after =
          rng.OneIn(4) ? std::optional<Micros>() : micros();
    }
    const Decision d = Of(verdicts);
    HttpCall call;
    call.jitter_seed = rng.Next();
    const HttpWriter writer = Make(rules, options);
    const NamesAndValues fields = Write(writer, d, call);
    const auto retry_after = writer.RetryAfterSeconds(d, call);
    ASSERT_EQ(Value(fields, "Retry-After"),
              retry_after ? std::to_string(*retry_after) : "(none)");
    if (!d.allowed && !d.never()) {
      ASSERT_TRUE(retry_after.has_value());
    }
    if (retry_after && d.retry_after) {
      // In seconds: in microseconds it might not fit.
      ASSERT_GE(*retry_after, d.retry_after->count() / 1'000'000 +
                                  (d.retry_after->count() % 1'000'000 > 0));
    }
    const auto policies = ReadPolicies(Value(fields, "RateLimit-Policy"));
    ASSERT_EQ(policies.size(), rules.size());
    int64_t least = 0;
    for (const ServiceLimit& l : ReadLimits(Value(fields, "RateLimit"))) {
      ASSERT_GE(l.r, least);
      least = l.r;
      ASSERT_LE(l.r, kMaxSfInteger);
      ASSERT_NE(l.t, 0);
      if (retry_after) {
        ASSERT_LE(l.t, *retry_after) << Value(fields, "RateLimit");
        ASSERT_GE(*retry_after, 1);
      }
    }
  }
}

}  // namespace
}  // namespace weir
