#include "tools/cli/wait_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

namespace weir::cli {
namespace {

TEST(WaitHistogram, IsExactForOneWait) {
  for (const int64_t us :
       {int64_t{0}, int64_t{1}, int64_t{1023}, int64_t{1024}, int64_t{2047},
        int64_t{2048}, int64_t{123'456'789}, (int64_t{1} << 53) - 1,
        std::numeric_limits<int64_t>::max()}) {
    WaitHistogram waits;
    waits.Add(us);
    EXPECT_EQ(waits.Quantile(500), us);
    EXPECT_EQ(waits.Quantile(990), us);
    EXPECT_EQ(waits.max(), us);
  }
}

TEST(WaitHistogram, TakesTheNearestRank) {
  WaitHistogram waits;
  for (int64_t us = 100; us >= 1; --us) waits.Add(us);
  EXPECT_EQ(waits.Quantile(500), 50);
  EXPECT_EQ(waits.Quantile(990), 99);
  EXPECT_EQ(waits.Quantile(1000), 100);
  waits.Add(101);
  EXPECT_EQ(waits.Quantile(500), 51);
  EXPECT_EQ(waits.Quantile(990), 100);
}

TEST(WaitHistogram, IsOffByAtMostATwoThousandth) {
  const char* given = std::getenv("WEIR_TEST_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10)
                                         : std::random_device()();
  SCOPED_TRACE(::testing::Message() << "WEIR_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    WaitHistogram waits;
    std::vector<int64_t> all;
    const size_t count = 1 + random() % 500;
    for (size_t i = 0; i < count; ++i) {
      all.push_back(static_cast<int64_t>(random() >> (1 + random() % 63)));
      waits.Add(all.back());
    }
    std::sort(all.begin(), all.end());
    for (const int permille : {1, 250, 500, 990, 999, 1000}) {
      const size_t rank = (count * static_cast<size_t>(permille) + 999) / 1000;
      const double exact = static_cast<double>(all[rank - 1]);
      const double found = static_cast<double>(waits.Quantile(permille));
      EXPECT_LE(std::abs(found - exact), exact / 2048) << permille;
    }
    EXPECT_EQ(waits.max(), all.back());
  }
}

}  // namespace
}  // namespace weir::cli
