#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/http_kit.h"
#include "tests/structured_fields.h"
#include "weir/clock.h"
#include "weir/http.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using namespace http_kit;
using namespace std::chrono_literals;

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
              HasSubstr("names.rate_limit: \"\""));
  EXPECT_THAT(with([](HttpOptions* o) { o->names.retry_after = "a b"; }),
              HasSubstr("names.retry_after: \"a b\"; allowed: a token"));
  EXPECT_THAT(with([](HttpOptions* o) { o->names.retry_after = "a\r\nb:"; }),
              HasSubstr("names.retry_after: \"a\\r\\nb:\""));
  EXPECT_THAT(
      with([](HttpOptions* o) { o->names.retry_after = "ratelimit"; }),
      HasSubstr("names.retry_after: \"ratelimit\" would be written for two "
                "fields, names.rate_limit too"));
  EXPECT_THAT(with([](HttpOptions* o) {
                o->draft = RateLimitDraft::k06;
                o->names.rate_limit_reset = "(";
              }),
              HasSubstr("names.rate_limit_reset: \"(\""));
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
  EXPECT_THAT(
      with([](HttpOptions* o) {
        o->rules = {{"n"}};
        o->rules[0].unit = "\n";
      }),
      HasSubstr("\"n\": unit: \"\\n\" has the byte 0x0a at 0; allowed in "
                "draft 11: printable ASCII"));
  EXPECT_THAT(with([](HttpOptions* o) {
                o->rules = {{"n"}};
                o->rules[0].unit = "\n";
              }),
              Not(HasSubstr("public_name")));
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

}  // namespace
}  // namespace weir
