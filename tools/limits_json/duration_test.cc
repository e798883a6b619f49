#include "tools/limits_json/duration.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

int64_t MicrosOf(std::string_view text) {
  const absl::StatusOr<Micros> duration = ParseDuration(text);
  EXPECT_TRUE(duration.ok()) << text << ": " << duration.status();
  return duration.ok() ? duration->count() : -1;
}

TEST(Duration, ReadsEachUnit) {
  EXPECT_EQ(MicrosOf("250us"), 250);
  EXPECT_EQ(MicrosOf("10ms"), 10'000);
  EXPECT_EQ(MicrosOf("1s"), 1'000'000);
  EXPECT_EQ(MicrosOf("5m"), 300'000'000);
  EXPECT_EQ(MicrosOf("1h"), 3'600'000'000);
  EXPECT_EQ(MicrosOf("7d"), 604'800'000'000);
}

TEST(Duration, ReadsFractionsExactly) {
  EXPECT_EQ(MicrosOf("1.5s"), 1'500'000);
  EXPECT_EQ(MicrosOf("0.000001s"), 1);
  EXPECT_EQ(MicrosOf("0.10s"), 100'000);
  EXPECT_EQ(MicrosOf("1.000us"), 1);
  // 2^-13 of a day: every digit counts.
  EXPECT_EQ(MicrosOf("0.0001220703125d"), 10'546'875);
  EXPECT_EQ(MicrosOf("9007199254.740991s"), kMaxExact);
  EXPECT_EQ(MicrosOf("9007199254740991us"), kMaxExact);
  EXPECT_EQ(MicrosOf("000000000000000000001s"), 1'000'000);
  EXPECT_EQ(MicrosOf("-1.5s"), -1'500'000);
}

TEST(Duration, RefusesWhatIsNoDuration) {
  for (const char* text :
       {"",     "s",     "10",   "1.5",  ".5s",       "1.s",        "1.5.5s",
        "10 s", " 10s",  "10s ", "+10s", "1e3s",      "10S",        "10sec",
        "1,5s", "0x10s", "--1s", "s10",  "\xc2\xb5s", "10\xc2\xb5s"}) {
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
  }
}

TEST(Duration, RefusesPartsOfAMicrosecond) {
  for (const char* text : {"0.5us", "1.0001ms", "0.0000001s",
                           "0.00000000000000000001d", "0.33333333333333333d"}) {
    const absl::StatusOr<Micros> duration = ParseDuration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_EQ(duration.status().message(),
              "is not a whole number of microseconds")
        << text;
  }
}

TEST(Duration, RefusesWhatIsTooLong) {
  for (const char* text :
       {"9007199254740992us", "9007199254.740992s", "99999999999999999d",
        "100000000000000000us", "99999999999999999999999999d"}) {
    const absl::StatusOr<Micros> duration = ParseDuration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_EQ(duration.status().message(), "is more than 2^53 - 1 us") << text;
  }
}

TEST(Duration, WritesWhatItReads) {
  EXPECT_EQ(FormatDuration(Micros(0)), "0s");
  EXPECT_EQ(FormatDuration(Micros(90'000'000)), "90s");
  EXPECT_EQ(FormatDuration(Micros(60'000'000)), "1m");
  EXPECT_EQ(FormatDuration(Micros(1'500)), "1500us");
  for (const int64_t us : {int64_t{1}, int64_t{1000}, int64_t{86'400'000'000},
                           int64_t{129'600'000'000}, kMaxExact}) {
    EXPECT_EQ(MicrosOf(FormatDuration(Micros(us))), us);
  }
}

}  // namespace
}  // namespace weir::cli
