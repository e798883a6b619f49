#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/http_kit.h"
#include "weir/clock.h"
#include "weir/http.h"
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
using namespace http_kit;
using namespace std::chrono_literals;

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
  // Nor what only watches.
  RuleVerdict watch = Passed(0, 1h);
  watch.observe = true;
  EXPECT_EQ(retry_after(Of({Passed(0, 30s), watch})), "30");
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

}  // namespace
}  // namespace weir
