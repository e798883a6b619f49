#include "tools/cli/time_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "tools/cli/time_units.h"
#include "weir/time.h"

namespace weir::cli {
namespace {

TEST(TimeLine, BeginsNarrow) {
  TimeLine line(10);
  line.Add(7, true);
  line.Add(7, false);
  line.Add(9, false);
  EXPECT_EQ(line.width_us(), 1);
  EXPECT_EQ(line.start_us(), 7);
  ASSERT_EQ(line.buckets().size(), 3u);
  EXPECT_EQ(line.buckets()[0].allowed, 1u);
  EXPECT_EQ(line.buckets()[0].denied, 1u);
  EXPECT_EQ(line.buckets()[1].denied, 0u);
  EXPECT_EQ(line.buckets()[2].denied, 1u);
}

TEST(TimeLine, GrowsToWidthsThatPeopleKnow) {
  TimeLine line(10);
  line.Add(0, true);
  line.Add(59 * kS, true);
  EXPECT_EQ(line.width_us(), 10 * kS);
  line.Add(3600 * kS, true);
  EXPECT_EQ(line.width_us(), 600 * kS);
  line.Add(86'400 * kS, true);
  EXPECT_EQ(line.width_us(), 6 * 3600 * kS);
  EXPECT_EQ(line.buckets().size(), 5u);
}

TEST(TimeLine, GrowsToTheEarlierSideToo) {
  TimeLine line(4);
  line.Add(10 * kS, true);
  line.Add(-15 * kS, false);
  EXPECT_EQ(line.width_us(), 10 * kS);
  EXPECT_EQ(line.start_us(), -20 * kS);
  ASSERT_EQ(line.buckets().size(), 4u);
  EXPECT_EQ(line.buckets()[0].denied, 1u);
  EXPECT_EQ(line.buckets()[3].allowed, 1u);
}

TEST(TimeLine, HoldsTheWholeRangeOfTimes) {
  TimeLine line(2);
  line.Add(-kMaxExact, true);
  line.Add(kMaxExact, false);
  ASSERT_EQ(line.buckets().size(), 2u);
  EXPECT_EQ(line.buckets()[0].allowed, 1u);
  EXPECT_EQ(line.buckets()[1].denied, 1u);
}

TEST(TimeLine, LosesNothingWhateverTheOrder) {
  const char* given = std::getenv("WEIR_TEST_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10)
                                         : std::random_device()();
  SCOPED_TRACE(::testing::Message() << "WEIR_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    const int bits = 1 + static_cast<int>(random() % 53);
    TimeLine line(2 + random() % 30);
    std::map<int64_t, uint64_t> times;
    for (int i = 0; i < 200; ++i) {
      int64_t t = static_cast<int64_t>(random() >> (64 - bits));
      if (random() % 2 == 0) t = -t;
      line.Add(t, i % 3 != 0);
      if (i % 3 != 0) ++times[t];
    }
    const TimeLine narrow = line.Narrowed(2 + random() % 10);
    for (const TimeLine* which :
         {static_cast<const TimeLine*>(&line), &narrow}) {
      std::map<int64_t, uint64_t> expected;
      for (const auto& [t, n] : times) {
        int64_t bucket = t / which->width_us();
        if (t % which->width_us() < 0) --bucket;
        expected[bucket * which->width_us()] += n;
      }
      int64_t start = which->start_us();
      uint64_t denied = 0;
      for (const TimeLine::Bucket& bucket : which->buckets()) {
        EXPECT_EQ(bucket.allowed, expected[start]) << start;
        expected.erase(start);
        denied += bucket.denied;
        start += which->width_us();
      }
      EXPECT_EQ(denied, 67u);
      EXPECT_TRUE(std::all_of(expected.begin(), expected.end(),
                              [](const auto& e) { return e.second == 0; }));
    }
  }
}

}  // namespace
}  // namespace weir::cli
