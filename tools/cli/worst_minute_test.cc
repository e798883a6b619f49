#include "tools/cli/worst_minute.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

constexpr int64_t kMin = WorstMinute::kMinuteUs;

TEST(WorstMinute, IsNoneWhereNothingWasDenied) {
  EXPECT_FALSE(WorstMinute().Find().has_value());
}

TEST(WorstMinute, CountsWholeMinutesOfTheClock) {
  WorstMinute worst;
  worst.Add(kMin - 1);
  worst.Add(kMin);
  worst.Add(2 * kMin - 1);
  worst.Add(2 * kMin);
  ASSERT_TRUE(worst.Find().has_value());
  EXPECT_EQ(worst.Find()->start_us, kMin);
  EXPECT_EQ(worst.Find()->denied, 2u);
}

TEST(WorstMinute, TakesTheEarlierOfTwoAlike) {
  WorstMinute worst;
  for (const int64_t minute : {5, 3, 5, 3, 4}) worst.Add(minute * kMin + 7);
  EXPECT_EQ(worst.Find()->start_us, 3 * kMin);
  EXPECT_EQ(worst.Find()->denied, 2u);
}

TEST(WorstMinute, TakesTimesBefore1970) {
  WorstMinute worst;
  worst.Add(-1);
  worst.Add(-kMin);
  worst.Add(-kMin - 1);
  EXPECT_EQ(worst.Find()->start_us, -kMin);
  EXPECT_EQ(worst.Find()->denied, 2u);
}

TEST(WorstMinute, RemembersTheWorstOfWhatItForgot) {
  WorstMinute worst;
  worst.Add(0);
  worst.Add(1);
  worst.Add(2);
  const auto minutes = static_cast<int64_t>(3 * WorstMinute::kKept);
  for (int64_t minute = 1; minute < minutes; ++minute) {
    worst.Add(minute * kMin);
    if (minute == minutes - 2) worst.Add(minute * kMin);
  }
  EXPECT_EQ(worst.Find()->start_us, 0);
  EXPECT_EQ(worst.Find()->denied, 3u);
  worst.Add((minutes - 2) * kMin);
  worst.Add((minutes - 2) * kMin);
  EXPECT_EQ(worst.Find()->start_us, (minutes - 2) * kMin);
  EXPECT_EQ(worst.Find()->denied, 4u);
}

}  // namespace
}  // namespace weir::cli
