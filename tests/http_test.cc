#include "weir/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/structured_fields.h"
#include "weir/clock.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"
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
using namespace std::chrono_literals;
using namespace std::string_literals;

constexpr int64_t kMaxSfInteger = 999'999'999'999'999;

using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

NamesAndValues Write(const HttpWriter& writer, const Decision& d,
                     const HttpCall& call = {}) {
  NamesAndValues all;
  for (const HttpField& f : writer.Fields(d, call)) {
    all.emplace_back(std::string(f.name), f.value);
  }
  return all;
}

// The value of one field; "(none)" if it is not there.
std::string Value(const NamesAndValues& fields, std::string_view name) {
  for (const auto& [n, value] : fields) {
    if (n == name) return value;
  }
  return "(none)";
}

HttpWriter Make(const std::vector<Rule>& rules,
                const HttpOptions& options = {}) {
  absl::StatusOr<HttpWriter> writer = HttpWriter::Create(rules, options);
  if (!writer.ok()) ADD_FAILURE() << writer.status();
  return *std::move(writer);
}

std::string Refusal(const std::vector<Rule>& rules,
                    const HttpOptions& options) {
  absl::StatusOr<HttpWriter> writer = HttpWriter::Create(rules, options);
  if (writer.ok()) return "(accepted)";
  EXPECT_EQ(writer.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(writer.status().message());
}

Rule Named(std::string name, Limit limit = Limit::SlidingLog(100, 1min)) {
  return {std::move(name), std::move(limit), false, std::nullopt};
}

RuleVerdict Passed(int64_t remaining, Micros reset_after) {
  RuleVerdict v;
  v.limit = 100;
  v.remaining = remaining;
  v.reset_after = reset_after;
  return v;
}

RuleVerdict Refused(int64_t remaining, std::optional<Micros> retry_after,
                    Micros reset_after) {
  RuleVerdict v = Passed(remaining, reset_after);
  v.allowed = false;
  v.retry_after = retry_after;
  return v;
}

// What a limiter makes of these verdicts.
Decision Of(const std::vector<RuleVerdict>& verdicts) {
  Decision d;
  d.remaining = kMaxExact;
  bool never = false;
  Micros wait{-1};
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const RuleVerdict& v = verdicts[i];
    d.verdicts.push_back(v);
    if (v.observe) continue;
    d.reset_after = std::max(d.reset_after, v.reset_after);
    const bool tighter = v.remaining < d.remaining;
    d.remaining = std::min(d.remaining, v.remaining);
    if (v.allowed) {
      if (d.allowed && tighter) d.rule = static_cast<int>(i);
      continue;
    }
    if (d.allowed || (!never && (!v.retry_after || *v.retry_after > wait))) {
      d.rule = static_cast<int>(i);
    }
    d.allowed = false;
    never = never || !v.retry_after;
    wait = std::max(wait, v.retry_after.value_or(Micros(0)));
  }
  if (!d.allowed) d.retry_after = wait;
  if (never) d.retry_after = std::nullopt;
  if (!d.verdicts.empty()) {
    d.limit = d.verdicts[static_cast<size_t>(d.rule)].limit;
  }
  return d;
}

// Draft 11, as a receiver reads it.
struct Policy {
  std::string name;
  int64_t q = -1;
  int64_t w = -1;  // -1: not there
  std::string qu = "requests";
  std::string pk = {};
  bool operator==(const Policy& o) const {
    return name == o.name && q == o.q && w == o.w && qu == o.qu && pk == o.pk;
  }
};
std::ostream& operator<<(std::ostream& out, const Policy& p) {
  return out << '"' << p.name << "\" q=" << p.q << " w=" << p.w
             << " qu=" << p.qu << " pk=" << p.pk;
}

struct ServiceLimit {
  std::string name;
  int64_t r = -1;
  int64_t t = -1;  // -1: not there
  std::string pk = {};
  bool operator==(const ServiceLimit& o) const {
    return name == o.name && r == o.r && t == o.t && pk == o.pk;
  }
};
std::ostream& operator<<(std::ostream& out, const ServiceLimit& l) {
  return out << '"' << l.name << "\" r=" << l.r << " t=" << l.t
             << " pk=" << l.pk;
}

template <class T>
T Parameter(const structured::Item& item, std::string_view key, T missing) {
  const structured::BareItem* value = item.Find(key);
  return value == nullptr ? missing : std::get<T>(*value);
}

std::vector<Policy> ReadPolicies(const std::string& field) {
  std::vector<Policy> policies;
  const auto list = structured::ParseList(field);
  if (!list || list->empty()) ADD_FAILURE() << "malformed: " << field;
  if (!list) return policies;
  for (const structured::Item& item : *list) {
    policies.push_back({std::get<std::string>(item.value),
                        Parameter<int64_t>(item, "q", -1),
                        Parameter<int64_t>(item, "w", -1),
                        Parameter<std::string>(item, "qu", "requests"),
                        Parameter<structured::Bytes>(item, "pk", {}).bytes});
    EXPECT_GE(policies.back().q, 0) << field;
    EXPECT_NE(policies.back().w, 0) << field;
  }
  return policies;
}

std::vector<ServiceLimit> ReadLimits(const std::string& field) {
  std::vector<ServiceLimit> limits;
  const auto list = structured::ParseList(field);
  if (!list || list->empty()) ADD_FAILURE() << "malformed: " << field;
  if (!list) return limits;
  for (const structured::Item& item : *list) {
    limits.push_back({std::get<std::string>(item.value),
                      Parameter<int64_t>(item, "r", -1),
                      Parameter<int64_t>(item, "t", -1),
                      Parameter<structured::Bytes>(item, "pk", {}).bytes});
    EXPECT_GE(limits.back().r, 0) << field;
  }
  return limits;
}

std::vector<ServiceLimit> LimitsOf(const HttpWriter& writer, const Decision& d,
                                   const HttpCall& call = {}) {
  return ReadLimits(Value(Write(writer, d, call), "RateLimit"));
}

std::vector<Policy> PoliciesOf(const std::vector<Rule>& rules,
                               const HttpOptions& options = {},
                               const HttpCall& call = {}) {
  const HttpWriter writer = Make(rules, options);
  Decision d = Of(std::vector<RuleVerdict>(rules.size(), Passed(1, 1s)));
  return ReadPolicies(Value(Write(writer, d, call), "RateLimit-Policy"));
}

class HttpWithLimiter : public ::testing::Test {
 protected:
  HttpWithLimiter() {
    MemoryStoreOptions options;
    options.clock = clock_;
    store_ = *MemoryStore::Create(options);
  }
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::shared_ptr<Store> store_;
};

TEST_F(HttpWithLimiter, TellsWhatIsLeftAndWhenToComeBack) {
  auto limiter = Limiter::Create(store_, Limit::FixedWindow(2, 1min));
  const HttpWriter writer = *HttpWriter::Create(*limiter);
  EXPECT_THAT(Write(writer, *limiter->Check("k")),
              ElementsAre(Pair("RateLimit-Policy", "\"default\";q=2;w=60"),
                          Pair("RateLimit", "\"default\";r=1;t=60")));
  clock_->Advance(12345678us);
  EXPECT_THAT(Write(writer, *limiter->Check("k")),
              ElementsAre(Pair("RateLimit-Policy", "\"default\";q=2;w=60"),
                          Pair("RateLimit", "\"default\";r=0;t=48")));
  EXPECT_THAT(Write(writer, *limiter->Check("k")),
              ElementsAre(Pair("RateLimit-Policy", "\"default\";q=2;w=60"),
                          Pair("RateLimit", "\"default\";r=0;t=48"),
                          Pair("Retry-After", "48")));
}

TEST_F(HttpWithLimiter, PassesAfterRetryAfterSecondsAndNotASecondEarlier) {
  Rng rng = TestRng();
  for (int round = 0; round < Rounds(300, 20'000); ++round) {
    SCOPED_TRACE("WEIR_TEST_SEED=" + std::to_string(Seed()));
    const Micros window(rng.LogUniform(1, int64_t{3600} * 1'000'000));
    auto limiter = Limiter::Create(
        store_, {Named("gcra" + std::to_string(round),
                       Limit::Gcra(rng.LogUniform(1, 1000), window)),
                 Named("log" + std::to_string(round),
                       Limit::SlidingLog(rng.LogUniform(1, 10), window))});
    ASSERT_TRUE(limiter.ok()) << limiter.status();
    const HttpWriter writer = *HttpWriter::Create(*limiter);
    Decision d = *limiter->Check("k");
    while (d.allowed) d = *limiter->Check("k");
    const auto seconds = writer.RetryAfterSeconds(d);
    ASSERT_TRUE(seconds.has_value());
    ASSERT_GE(*seconds, 1);
    clock_->Advance(std::chrono::seconds(*seconds - 1));
    if (*seconds > 1) {
      ASSERT_FALSE(limiter->Peek("k")->allowed);
    }
    clock_->Advance(1s);
    ASSERT_TRUE(limiter->Peek("k")->allowed);
  }
}

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

TEST(Http, QuotaIsWhatCanBeUsedAtOnceAndTheRateIsTrue) {
  const auto policy = [](Limit limit) {
    return PoliciesOf({Named("n", std::move(limit))}).at(0);
  };
  const auto is = [](int64_t q, int64_t w) { return Policy{"n", q, w}; };
  EXPECT_EQ(policy(Limit::Gcra(100, 1min)), is(100, 60));
  EXPECT_EQ(policy(Limit::Gcra(100, 1min).Burst(20)), is(20, 12));
  EXPECT_EQ(policy(Limit::Gcra(100, 1min).Burst(1000)), is(1000, 600));
  EXPECT_EQ(policy(Limit::Gcra(7, 3s).Burst(8)), is(8, 4));
  EXPECT_EQ(policy(Limit::TokenBucket(1000, 10, 1s)), is(1000, 100));
  EXPECT_EQ(policy(Limit::LeakyBucket(50, 1, 2s)), is(50, 100));
  EXPECT_EQ(policy(Limit::Uniform(90s)), is(1, 90));
  EXPECT_EQ(policy(Limit::FixedWindow(1000, 1h)), is(1000, 3600));
  EXPECT_EQ(policy(Limit::SlidingLog(5, 10s)), is(5, 10));
  EXPECT_EQ(policy(Limit::SlidingLogList(5, 10s)), is(5, 10));
  EXPECT_EQ(policy(Limit::BucketedWindow(5, 10s, 1s)), is(5, 10));
  EXPECT_EQ(policy(Limit::SlidingWindowCounter(5, 10s)), is(5, 10));
  EXPECT_EQ(policy(Limit::WindowedTokenBucket(100, 1min, 10)), is(10, 6));
  EXPECT_EQ(policy(Limit::Ar1(10.5, 2, 1s)).q, 10);
  // Whole seconds, upwards, never 0.
  EXPECT_EQ(policy(Limit::SlidingLog(5, 1us)), is(5, 1));
  EXPECT_EQ(policy(Limit::SlidingLog(5, 1s)), is(5, 1));
  EXPECT_EQ(policy(Limit::SlidingLog(5, 1000001us)), is(5, 2));
  // The largest that is accepted.
  EXPECT_EQ(policy(Limit::FixedWindow(1'000'000'000'000, 24h * 36600)),
            is(1'000'000'000'000, 3'162'240'000));
  // A limit of 0 has no window.
  EXPECT_EQ(policy(Limit::FixedWindow(0, 1min)), is(0, -1));
  EXPECT_EQ(policy(Limit::TokenBucket(0, 10, 1s)), is(0, -1));
}

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

TEST(Http, RetryAfterIsRoundedUpAndNeverZero) {
  const HttpWriter writer = Make({Named("n")});
  const std::vector<std::pair<int64_t, std::string>> table = {
      {0, "1"},
      {1, "1"},
      {999'999, "1"},
      {1'000'000, "1"},
      {1'000'001, "2"},
      {59'999'999, "60"},
      {int64_t{86'400} * 1'000'000, "86400"},
      {kMaxExact, "9007199255"},
      {std::numeric_limits<int64_t>::max(), "9007199255"}};
  for (const auto& [us, text] : table) {
    const Decision d = Of({Refused(0, Micros(us), 1h)});
    EXPECT_EQ(Value(Write(writer, d), "Retry-After"), text) << us;
  }
}

TEST(Http, AnAllowedCallHasNoRetryAfter) {
  EXPECT_EQ(
      Value(Write(Make({Named("n")}), Of({Passed(0, 30s)})), "Retry-After"),
      "(none)");
}

TEST(Http, NeverHasNoRetryAfterUnlessOneIsChosen) {
  const Decision d =
      Of({Refused(5, std::nullopt, 30s), Passed(7, int64_t{2} * 3600s)});
  const std::vector<Rule> rules = {Named("n"), Named("m")};
  NamesAndValues fields = Write(Make(rules), d);
  EXPECT_EQ(Value(fields, "Retry-After"), "(none)");
  EXPECT_EQ(Value(fields, "RateLimit"), "\"n\";r=5, \"m\";r=7;t=7200");
  HttpOptions options;
  options.retry_after_never = 1h;
  fields = Write(Make(rules, options), d);
  EXPECT_EQ(Value(fields, "Retry-After"), "3600");
  EXPECT_EQ(Value(fields, "RateLimit"), "\"n\";r=5, \"m\";r=7");
}

TEST(Http, RetryAfterOfAnAllowedCallThatLeavesNothing) {
  HttpOptions options;
  options.retry_after_when_empty = true;
  const HttpWriter writer = Make({Named("n"), Named("m")}, options);
  const auto retry_after = [&writer](const Decision& d) {
    return Value(Write(writer, d), "Retry-After");
  };
  EXPECT_EQ(retry_after(Of({Passed(1, 30s), Passed(2, 1h)})), "(none)");
  // What is not used up need not be waited for.
  const Decision d = Of({Passed(0, 29'000'001us), Passed(2, 1h)});
  EXPECT_EQ(retry_after(d), "30");
  EXPECT_THAT(LimitsOf(writer, d),
              ElementsAre(ServiceLimit{"n", 0, 30}, ServiceLimit{"m", 2, -1}));
  EXPECT_EQ(retry_after(Of({Passed(0, 0s), Passed(2, 1h)})), "(none)");
  EXPECT_EQ(retry_after(Of({Refused(0, 5s, 30s), Passed(2, 1h)})), "5");
}

TEST(Http, NoEffectiveWindowEndsAfterRetryAfter) {
  const Decision d = Of({Refused(0, 1500ms, 2s), Passed(998, 24h)});
  const std::vector<Rule> rules = {Named("n"), Named("m")};
  EXPECT_EQ(Value(Write(Make(rules), d), "RateLimit"),
            "\"n\";r=0;t=2, \"m\";r=998");
  // Draft 07 wants a number.
  HttpOptions options;
  options.draft = RateLimitDraft::k07;
  options.rules = {{"n"}};
  options.rules[0].hidden = true;
  EXPECT_EQ(Value(Write(Make(rules, options), d), "RateLimit"),
            "limit=100, remaining=998, reset=2");
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

TEST(Http, TheTrioCountsSecondsOrUnixTime) {
  HttpOptions options;
  options.rate_limit = options.rate_limit_policy = false;
  options.x_rate_limit = true;
  Decision d = Of({Passed(9, 1s), Refused(2, 3s, 29'500'000us)});
  d.verdicts[1].limit = 20;
  const std::vector<Rule> rules = {Named("a"), Named("b")};
  EXPECT_THAT(
      Write(Make(rules, options), d),
      ElementsAre(Pair("X-RateLimit-Limit", "20"),
                  Pair("X-RateLimit-Remaining", "2"),
                  Pair("X-RateLimit-Reset", "30"), Pair("Retry-After", "3")));
  options.x_reset = HttpReset::kUnixTime;
  options.clock =
      std::make_shared<ManualClock>(TimeFromMicros(1'700'000'000'600'000));
  HttpWriter writer = Make(rules, options);
  EXPECT_EQ(Value(Write(writer, d), "X-RateLimit-Reset"), "1700000031");
  HttpCall call;
  call.now = TimeFromMicros(1'800'000'000'500'000);
  EXPECT_EQ(Value(Write(writer, d, call), "X-RateLimit-Reset"), "1800000030");
  // Without a clock it makes its own.
  options.clock = nullptr;
  writer = Make(rules, options);
  const std::string now = Value(Write(writer, d), "X-RateLimit-Reset");
  EXPECT_GT(std::stoll(now), 1'700'000'000);
}

HttpOptions OfDraft(RateLimitDraft draft) {
  HttpOptions options;
  options.draft = draft;
  return options;
}

TEST(Http, Draft07IsOneDictionary) {
  const HttpWriter writer =
      Make({Named("caf\xC3\xA9"), Named("b", Limit::SlidingLog(5000, 24h))},
           OfDraft(RateLimitDraft::k07));
  const NamesAndValues fields =
      Write(writer, Of({Passed(50, 30s), Refused(40, 3'100'000us, 1h)}));
  EXPECT_THAT(
      fields,
      ElementsAre(Pair("RateLimit-Policy", "100;w=60, 5000;w=86400"),
                  Pair("RateLimit", "limit=5000, remaining=40, reset=4"),
                  Pair("Retry-After", "4")));
  ASSERT_TRUE(structured::ParseList(fields[0].second));
  ASSERT_TRUE(structured::ParseDictionary(fields[1].second));
}

TEST(Http, Draft06IsThreeFields) {
  const HttpWriter writer = Make({Named("a")}, OfDraft(RateLimitDraft::k06));
  EXPECT_THAT(Write(writer, Of({Passed(50, 29'000'001us)})),
              ElementsAre(Pair("RateLimit-Policy", "100;w=60"),
                          Pair("RateLimit-Limit", "100"),
                          Pair("RateLimit-Remaining", "50"),
                          Pair("RateLimit-Reset", "30")));
}

TEST(Http, OldDraftsNeverNameOneQuotaTwiceNorAPolicyWithoutWindow) {
  for (RateLimitDraft draft : {RateLimitDraft::k06, RateLimitDraft::k07}) {
    const HttpWriter writer =
        Make({Named("no", Limit::FixedWindow(0, 1s)), Named("a"),
              Named("b", Limit::Gcra(100, 1s)), Named("c", Limit::Gcra(7, 1s))},
             OfDraft(draft));
    const Decision d = Of({Refused(0, std::nullopt, 0s), Passed(1, 1s),
                           Passed(1, 1s), Passed(1, 1s)});
    EXPECT_EQ(Value(Write(writer, d), "RateLimit-Policy"), "100;w=60, 7;w=1");
    const HttpWriter none =
        Make({Named("no", Limit::FixedWindow(0, 1s))}, OfDraft(draft));
    EXPECT_EQ(Value(Write(none, Of({Refused(0, std::nullopt, 0s)})),
                    "RateLimit-Policy"),
              "(none)");
  }
}

TEST(Http, FieldNamesAreReplaceable) {
  HttpOptions options;
  options.x_rate_limit = true;
  options.names.rate_limit = "Acme-Limit";
  options.names.rate_limit_policy = "Acme-Policy";
  options.names.x_limit = "X-Rate-Limit-Limit";
  options.names.x_remaining = "x_left";
  options.names.x_reset = "X-Reset";
  options.names.retry_after = "Acme-Retry";
  const HttpWriter writer = Make({Named("n")}, options);
  EXPECT_THAT(
      Write(writer, Of({Refused(0, 1s, 1s)})),
      ElementsAre(Pair("Acme-Policy", "\"n\";q=100;w=60"),
                  Pair("Acme-Limit", "\"n\";r=0;t=1"),
                  Pair("X-Rate-Limit-Limit", "100"), Pair("x_left", "0"),
                  Pair("X-Reset", "1"), Pair("Acme-Retry", "1")));
}

TEST(Http, EachFamilyCanBeLeftOut) {
  HttpOptions options;
  options.rate_limit = options.rate_limit_policy = options.retry_after = false;
  const Decision d = Of({Refused(0, 1500ms, 2s)});
  EXPECT_THAT(Write(Make({Named("n")}, options), d), IsEmpty());
  EXPECT_EQ(Make({Named("n")}, options).RetryAfterSeconds(d), 2);
  options.rate_limit = true;
  EXPECT_THAT(Write(Make({Named("n")}, options), d),
              ElementsAre(Pair("RateLimit", "\"n\";r=0;t=2")));
}

TEST(Http, RefusesWrongOptionsAndSaysWhich) {
  const std::vector<Rule> rules = {Named("n"), Named("m")};
  const auto with = [&rules](void (*set)(HttpOptions*)) {
    HttpOptions options;
    set(&options);
    return Refusal(rules, options);
  };
  EXPECT_THAT(with([](HttpOptions* o) { o->names.rate_limit = ""; }),
              HasSubstr("names: \"\""));
  EXPECT_THAT(with([](HttpOptions* o) { o->names.retry_after = "a b"; }),
              HasSubstr("names: \"a b\"; allowed: a token"));
  EXPECT_THAT(with([](HttpOptions* o) { o->names.retry_after = "a\r\nb:"; }),
              HasSubstr("names: \"a\\r\\nb:\""));
  EXPECT_THAT(
      with([](HttpOptions* o) { o->names.retry_after = "ratelimit"; }),
      HasSubstr("names: \"ratelimit\" would be written for two fields"));
  // A name that is not used is not looked at.
  EXPECT_EQ(with([](HttpOptions* o) { o->names.x_limit = ""; }), "(accepted)");
  EXPECT_THAT(with([](HttpOptions* o) { o->jitter.share = -0.1; }),
              HasSubstr("jitter.share: -0.1; allowed: 0 to 10"));
  EXPECT_THAT(with([](HttpOptions* o) {
                o->jitter.share = std::numeric_limits<double>::quiet_NaN();
              }),
              HasSubstr("jitter.share: nan"));
  EXPECT_THAT(with([](HttpOptions* o) { o->jitter.span = -1us; }),
              HasSubstr("jitter.span: -1 us"));
  EXPECT_THAT(with([](HttpOptions* o) { o->jitter.span = 25h; }),
              HasSubstr("jitter.span: 90000000000 us"));
  EXPECT_THAT(with([](HttpOptions* o) { o->retry_after_never = 0s; }),
              HasSubstr("retry_after_never: 0 s"));
  EXPECT_THAT(with([](HttpOptions* o) { o->rules = {{"other"}}; }),
              HasSubstr("\"other\": the limiter has no such rule"));
  EXPECT_THAT(with([](HttpOptions* o) {
                o->rules = {{"n"}, {"n"}};
              }),
              HasSubstr("\"n\": stands twice"));
  EXPECT_THAT(with([](HttpOptions* o) {
                o->rules = {{"n", "m"}};
              }),
              HasSubstr("the name \"m\" for two rules"));
  EXPECT_THAT(with([](HttpOptions* o) {
                o->rules = {{"n"}};
                o->rules[0].unit = "\n";
              }),
              HasSubstr("\"n\": unit: \"\\n\" has the byte 0x0a at 0"));
  EXPECT_THAT(with([](HttpOptions* o) {
                o->rules = {{"n"}};
                o->rules[0].quota = -1;
              }),
              HasSubstr("\"n\": quota: -1; allowed: 0 to 999999999999999"));
  EXPECT_THAT(with([](HttpOptions* o) {
                o->rules = {{"n"}};
                o->rules[0].window = 0us;
              }),
              HasSubstr("\"n\": window: 0 us"));
  EXPECT_THAT(Refusal({Named("bad", Limit::Gcra(-1, 1s))}, {}),
              HasSubstr("\"bad\": limit: -1"));
}

TEST(Http, JitterIsDeterministicAndNeverEarly) {
  const Decision d = Of({Refused(0, 10'500'000us, 1h)});
  HttpOptions options;
  options.jitter.share = 0.5;
  options.jitter.span = 2s;
  const HttpWriter writer = Make({Named("n")}, options);
  std::set<int64_t> seen;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    HttpCall call;
    call.jitter_seed = seed;
    const int64_t seconds = *writer.RetryAfterSeconds(d, call);
    EXPECT_EQ(writer.RetryAfterSeconds(d, call), seconds);
    EXPECT_EQ(Value(Write(writer, d, call), "Retry-After"),
              std::to_string(seconds));
    seen.insert(seconds);
  }
  // 10.5 s, and up to 5.25 + 2 more: every second of it, no other.
  EXPECT_THAT(seen, ElementsAre(11, 12, 13, 14, 15, 16, 17, 18));
  // `t` stays true.
  EXPECT_EQ(LimitsOf(writer, d).at(0).t, 11);
}

TEST(Http, JitterWithoutASeedComesFromTheWaitAndThePartition) {
  HttpOptions options;
  options.jitter.span = 1000s;
  const HttpWriter writer = Make({Named("n")}, options);
  std::set<int64_t> by_wait, by_key;
  for (int i = 0; i < 100; ++i) {
    by_wait.insert(
        *writer.RetryAfterSeconds(Of({Refused(0, Micros(i + 1), 1h)})));
    const std::string key = "user:" + std::to_string(i);
    const std::vector<std::string_view> keys = {key};
    HttpCall call;
    call.partition_keys = keys;
    const Decision d = Of({Refused(0, 1s, 1h)});
    by_key.insert(*writer.RetryAfterSeconds(d, call));
    EXPECT_EQ(writer.RetryAfterSeconds(d, call),
              writer.RetryAfterSeconds(d, call));
  }
  EXPECT_GT(by_wait.size(), 80u);
  EXPECT_GT(by_key.size(), 80u);
}

TEST(Http, JitterSeedIsTheSameEverywhere) {
  EXPECT_EQ(JitterSeed(""), 0xCBF29CE484222325u);
  EXPECT_EQ(JitterSeed("a"), 0xAF63DC4C8601EC8Cu);
  EXPECT_NE(JitterSeed("user:1"), JitterSeed("user:2"));
}

TEST(Http, WithoutNumbersOnlyRetryAfterIsWritten) {
  HttpOptions options;
  options.x_rate_limit = true;
  const HttpWriter writer = Make({Named("a"), Named("b")}, options);
  Decision d = Of({Refused(0, 5s, 5s), Passed(1, 1s)});
  d.source = Source::kPolicy;
  EXPECT_THAT(Write(writer, d), ElementsAre(Pair("Retry-After", "5")));
  EXPECT_THAT(writer.Problem(d).body, HasSubstr("\"violated-policies\":[]"));
  // A decision of some other limiter.
  EXPECT_THAT(Write(writer, Of({Refused(0, 7s, 9s)})),
              ElementsAre(Pair("Retry-After", "7")));
  EXPECT_THAT(Write(writer, Decision()), IsEmpty());
  d.source = Source::kDenialCache;
  EXPECT_EQ(Write(writer, d).size(), 6u);
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

TEST(Http, ProblemNamesTheRulesThatDenied) {
  std::vector<Rule> rules = {Named("a"), Named("b"), Named("c"), Named("d")};
  rules[3].observe = true;
  HttpOptions options;
  options.rules = {{"c", "third"}};
  const HttpWriter writer = Make(rules, options);
  RuleVerdict watch = Refused(0, 1s, 1s);
  watch.observe = true;
  const Decision d =
      Of({Refused(0, 5s, 5s), Passed(1, 1s), Refused(0, 6s, 6s), watch});
  const HttpProblem problem = writer.Problem(d);
  EXPECT_EQ(problem.status, 429);
  EXPECT_EQ(problem.content_type, "application/problem+json");
  const auto json = nlohmann::json::parse(problem.body);
  EXPECT_EQ(json.size(), 4u);
  EXPECT_EQ(json["type"],
            "https://iana.org/assignments/http-problem-types#quota-exceeded");
  EXPECT_EQ(json["status"], 429);
  EXPECT_TRUE(json["title"].is_string());
  EXPECT_EQ(json["violated-policies"], nlohmann::json({"a", "third"}));
}

TEST(Http, ProblemHasTheStatusOfItsType) {
  const HttpWriter writer = Make({Named("n")});
  const Decision d = Of({Refused(0, 5s, 5s)});
  const std::vector<std::pair<HttpProblemType, std::string>> table = {
      {HttpProblemType::kQuotaExceeded, "429 quota-exceeded"},
      {HttpProblemType::kTemporaryReducedCapacity,
       "503 temporary-reduced-capacity"},
      {HttpProblemType::kAbnormalUsageDetected, "429 abnormal-usage-detected"}};
  for (const auto& [type, text] : table) {
    const HttpProblem problem = writer.Problem(d, type);
    const auto json = nlohmann::json::parse(problem.body);
    const std::string url = json["type"];
    EXPECT_EQ(json["status"], problem.status);
    EXPECT_EQ(
        std::to_string(problem.status) + " " + url.substr(url.find('#') + 1),
        text);
  }
}

std::string NameInProblem(const std::string& name) {
  HttpOptions options;
  options.rate_limit = options.rate_limit_policy = false;
  const HttpWriter writer = Make({Named(name)}, options);
  const std::string body = writer.Problem(Of({Refused(0, 1s, 1s)})).body;
  return nlohmann::json::parse(body)["violated-policies"][0];
}

TEST(Http, ProblemIsJsonWhateverANameHolds) {
  for (const std::string& name :
       {""s, "a\"b\\c/"s, "\0\x1F\x7F\n"s, "caf\xC3\xA9"s, "\xE2\x82\xAC"s,
        "\xF0\x9F\x98\x80"s, "\xF4\x8F\xBF\xBF"s,
        "\xED\x9F\xBF\xEE\x80\x80"s}) {
    EXPECT_EQ(NameInProblem(name), name);
  }
  const std::string no = "\xEF\xBF\xBD";
  EXPECT_EQ(NameInProblem("a\xFF"
                          "b"),
            "a" + no + "b");
  EXPECT_EQ(NameInProblem("\xC3"), no);
  EXPECT_EQ(NameInProblem("\xC0\x80"), no + no);
  EXPECT_EQ(NameInProblem("\xE0\x80\x80"), no + no + no);
  EXPECT_EQ(NameInProblem("\xED\xA0\x80"), no + no + no);
  EXPECT_EQ(NameInProblem("\xF4\x90\x80\x80"), no + no + no + no);
  EXPECT_EQ(NameInProblem("\xE2\x82z"), no + no + "z");
  Rng rng = TestRng();
  for (int round = 0; round < Rounds(2'000, 100'000); ++round) {
    std::string name;
    for (int64_t n = rng.Uniform(0, 12); n > 0; --n) {
      name += static_cast<char>(rng.Next());
    }
    ASSERT_NO_THROW(NameInProblem(name)) << "WEIR_TEST_SEED=" << Seed();
  }
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
