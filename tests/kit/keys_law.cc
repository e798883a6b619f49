// Law 9: keys do not touch each other, whatever bytes they hold, and a key
// that equals a fresh one is forgotten.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/limiter.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(KeysLaw)

namespace {

// Keys that a careless store takes for one another.
std::vector<std::string> TroublesomeKeys() {
  const std::string nul(1, '\0');
  const std::string longest(kMaxKeyBytes, 'x');
  std::vector<std::string> keys = {"",
                                   nul,
                                   nul + nul,
                                   "a",
                                   "a" + nul,
                                   "a" + nul + "b",
                                   "ab",
                                   "a b",
                                   "a:b",
                                   "a/b",
                                   "A",
                                   " a",
                                   "a ",
                                   "{",
                                   "}",
                                   "{}",
                                   "{}x",
                                   "{a}",
                                   "{a}b",
                                   "{a}b}",
                                   "a}",
                                   "{{a}}",
                                   "\r\n",
                                   "a\r\nb",
                                   "%s%n",
                                   "0",
                                   "00",
                                   "-1",
                                   "\xff",
                                   "\xff\xfe",
                                   "\xc3\xa9",
                                   "e\xcc\x81",
                                   "*",
                                   "?",
                                   "rule",
                                   "rule:a",
                                   "default",
                                   "k",
                                   "\"",
                                   "\\",
                                   longest.substr(1),
                                   longest};
  keys.push_back(longest.substr(1) + "y");
  keys.push_back("y" + longest.substr(1));
  for (size_t n = 1; n <= 40; ++n) keys.push_back(std::string(n, '\x80'));
  return keys;
}

}  // namespace

TEST_P(KeysLaw, KeysDoNotTouchEachOther) {
  const std::vector<std::string> keys = TroublesomeKeys();
  for (const Limit& limit : engine().samples) {
    SCOPED_TRACE(ToText(limit));
    const Setting setting = Explore(factory(), engine(), limit, rng_);
    Driver driver(factory().make(), limit, engine().registry);
    const int64_t t = setting.start;
    for (size_t i = 0; i < keys.size(); ++i) {
      const Decision d = driver.Check(keys[i], setting.capacity, t);
      ASSERT_TRUE(d.allowed) << "key " << i << " met another: " << ToText(d);
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(driver.Peek(keys[i], 1, t).remaining, 0) << "key " << i;
      driver.Reset(keys[i], t);
      ASSERT_EQ(driver.Peek(keys[i], 1, t).remaining, setting.capacity);
    }
  }
}

TEST_P(KeysLaw, AKeyThatIsTooLongIsAnError) {
  const Limit& limit = engine().samples.at(0);
  const Harness harness = factory().make();
  Driver driver(harness, limit, engine().registry);
  const int64_t t = ToMicros(harness.store->Now());
  const std::string longest(kMaxKeyBytes, 'x');
  for (const Op op : {Op::kCheck, Op::kPeek, Op::kRefund, Op::kReset}) {
    EXPECT_TRUE(driver.Try(op, longest, 1, t).ok());
    EXPECT_EQ(driver.Try(op, longest + "x", 1, t).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_P(KeysLaw, KeysAreForgottenOnceTheyEqualFreshOnes) {
  if (!factory().keys || !factory().sweep) {
    GTEST_SKIP() << "not for this store: it forgets keys when it likes";
  }
  ForEachLimit(
      factory(), engine(), rng_,
      [&](const Limit& limit, const Setting& setting) {
        const Harness harness = factory().make();
        Driver driver(harness, limit, engine().registry);
        constexpr int kKeys = 40;
        int64_t fresh_at = setting.start;
        for (int i = 0; i < kKeys; ++i) {
          const Decision d =
              driver.Check("key" + std::to_string(i),
                           rng_.LogUniform(1, setting.capacity), setting.start);
          ASSERT_TRUE(d.allowed);
          fresh_at = std::max(fresh_at, setting.start + d.reset_after.count());
        }
        EXPECT_EQ(KeysOf(harness), kKeys);
        // One that is not fresh yet stays, and says so.
        fresh_at += factory().slack.count();
        driver.Check("late", setting.capacity, fresh_at);
        const Decision late = driver.Peek("late", 1, fresh_at);
        factory().sweep(*harness.store, TimeFromMicros(fresh_at));
        EXPECT_EQ(KeysOf(harness), 1);
        EXPECT_EQ(ToText(driver.Peek("late", 1, fresh_at)), ToText(late));
      });
}

TEST_P(KeysLaw, ResetMakesAKeyFreshAndNoOther) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 Driver driver(factory().make(), limit, engine().registry);
                 const int64_t t = setting.start;
                 Drain(driver, "k", t);
                 Drain(driver, "other", t);
                 const Decision d = driver.Reset("k", t);
                 EXPECT_TRUE(d.allowed);
                 EXPECT_EQ(d.remaining, setting.capacity);
                 EXPECT_EQ(d.retry_after, Micros(0));
                 EXPECT_EQ(d.reset_after, Micros(0));
                 EXPECT_EQ(driver.Peek("other", 1, t).remaining, 0);
                 const uint64_t seed = rng_.Next();
                 EXPECT_EQ(LaterDecisions(driver, "k", setting, t, seed),
                           LaterDecisions(driver, "new", setting, t, seed));
               });
}

}  // namespace testing
}  // namespace weir
