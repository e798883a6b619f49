#include "tools/cli/input/log_time.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tools/cli/input/leap_day.h"
#include "tools/cli/input/row.h"

namespace weir::cli {
namespace {

int64_t Micros(const std::string& text) {
  int64_t micros = 0;
  const char* wrong = ParseLogTime(text, &micros);
  EXPECT_EQ(wrong, nullptr) << text;
  return micros;
}

std::string WhyNot(const std::string& text) {
  int64_t micros = 4711;
  const char* wrong = ParseLogTime(text, &micros);
  EXPECT_EQ(micros, 4711) << text;
  return wrong == nullptr ? "" : wrong;
}

TEST(LogTimeTest, TheSameInstantIsTheSameInEveryForm) {
  for (const char* text :
       {"29/Feb/2016:12:00:00 +0000",  "29/FEB/2016:12:00:00 +0000",
        "29/feb/2016:12:00:00 -0000",  "29/Feb/2016:12:00:00",
        "29/Feb/2016:12:00:00 Z",      "29/Feb/2016:12:00:00Z",
        "29/Feb/2016:12:00:00 UTC",    "29/Feb/2016:12:00:00 +00",
        "29/Feb/2016:12:00:00 +00:00", "29/Feb/2016:12:00:00+0000",
        "29/Feb/2016:17:30:00 +0530",  "29/Feb/2016:00:00:00 -1200",
        "01/Mar/2016:02:00:00 +1400",  "1/Mar/2016:02:00:00 +1400",
        "29/Feb/2016:02:30:00 -0930",  "29/Feb/2016 12:00:00 +0000",
        "2016-02-29T12:00:00+00:00",   "2016-02-29T12:00:00Z",
        "2016-02-29t12:00:00z",        "2016-02-29 12:00:00",
        "2016-02-29T13:00:00+01",      "2016-02-29T13:00:00+0100",
        "2016-02-29T05:00:00-07:00",   " 29/Feb/2016:12:00:00 +0000"}) {
    EXPECT_EQ(Micros(text), kNoon) << text;
  }
}

TEST(LogTimeTest, FractionIsKeptToTheMicrosecond) {
  EXPECT_EQ(Micros("29/Feb/2016:12:00:00.25 +0000"), kNoon + 250000);
  EXPECT_EQ(Micros("29/Feb/2016:12:00:00.000001 +0000"), kNoon + 1);
  EXPECT_EQ(Micros("2016-02-29T12:00:00,999999999Z"), kNoon + 999999);
  EXPECT_EQ(WhyNot("29/Feb/2016:12:00:00. +0000"), "not a time");
}

TEST(LogTimeTest, LeapSecondIsTheNextSecond) {
  EXPECT_EQ(Micros("31/Dec/2016:23:59:60 +0000"),
            Micros("01/Jan/2017:00:00:00 +0000"));
  EXPECT_EQ(Micros("31/Dec/2016:23:59:60.5 +0000"),
            Micros("01/Jan/2017:00:00:00.5 +0000"));
}

TEST(LogTimeTest, YearsBefore1970AreNegative) {
  EXPECT_EQ(Micros("01/Jan/1970:00:00:00 +0000"), 0);
  EXPECT_EQ(Micros("31/Dec/1969:23:59:58 +0000"), -2000000);
  EXPECT_EQ(Micros("01/Jan/1970:00:00:00 +0100"), -3600 * int64_t{1000000});
  EXPECT_EQ(Micros("01/Mar/1900:00:00:00 +0000"),
            -2203891200 * int64_t{1000000});
}

TEST(LogTimeTest, DaysThatDoNotExistAreRefused) {
  EXPECT_EQ(WhyNot("29/Feb/2015:12:00:00 +0000"), "no such day");
  EXPECT_EQ(WhyNot("29/Feb/1900:12:00:00 +0000"), "no such day");
  EXPECT_EQ(WhyNot("31/Apr/2016:12:00:00 +0000"), "no such day");
  EXPECT_EQ(WhyNot("00/Apr/2016:12:00:00 +0000"), "no such day");
  EXPECT_EQ(WhyNot("32/Jan/2016:12:00:00 +0000"), "no such day");
  EXPECT_EQ(WhyNot("01/Abr/2016:12:00:00 +0000"), "no such month");
  EXPECT_EQ(WhyNot("2016-13-01T12:00:00Z"), "no such month");
  EXPECT_EQ(WhyNot("01/Apr/2016:24:00:00 +0000"), "no such hour");
  EXPECT_EQ(WhyNot("01/Apr/2016:12:60:00 +0000"), "no such minute");
  EXPECT_EQ(WhyNot("01/Apr/2016:12:00:61 +0000"), "no such second");
}

TEST(LogTimeTest, TimesBeyondTheRangeAreRefused) {
  EXPECT_EQ(WhyNot("31/Dec/9999:23:59:59 +0000"), "time out of range");
  EXPECT_EQ(WhyNot("01/Jan/0001:00:00:00 +0000"), "time out of range");
  // The last second within it.
  EXPECT_EQ(Micros("05/Jun/2255:23:47:34.740991 +0000"), kMaxTraceNumber);
  EXPECT_EQ(WhyNot("05/Jun/2255:23:47:34.740992 +0000"), "time out of range");
}

TEST(LogTimeTest, OtherTextIsNoTime) {
  for (const char* text :
       {"", "-", "29", "29/", "29/Feb", "29/Feb/2016", "29/Feb/2016:12",
        "29/Feb/2016:12:00", "29/Feb/2016:12:00:0", "29/Feb/16:12:00:00 +0000",
        "29-Feb-2016:12:00:00 +0000", "Mon Feb 29 12:00:00 2016", "2016-02-29",
        "2016-02-29T12:00Z", "2016-2-29T12:00:00Z", "1456747200"}) {
    EXPECT_EQ(WhyNot(text), "not a time") << text;
  }
  for (const char* text :
       {"29/Feb/2016:12:00:00 CEST", "29/Feb/2016:12:00:00 +2400",
        "29/Feb/2016:12:00:00 +0060", "29/Feb/2016:12:00:00 +",
        "29/Feb/2016:12:00:00 +0", "29/Feb/2016:12:00:00 +00000",
        "29/Feb/2016:12:00:00 +0000 x"}) {
    EXPECT_EQ(WhyNot(text), "no such time zone") << text;
  }
}

// Counts the days one by one, which the parser does not.
TEST(LogTimeTest, EveryDayOfFourCenturiesFollowsTheOneBefore) {
  constexpr const char* kNames[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  int64_t expected = Micros("01/Jan/1800:00:00:00");
  for (int year = 1800; year < 2200; ++year) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= 32; ++day) {
        const std::string date =
            absl::StrCat(day, "/", kNames[month - 1], "/", year, ":00:00:00");
        int64_t micros = 0;
        if (ParseLogTime(date, &micros) != nullptr) {
          ASSERT_GE(day, 29) << date;
          break;
        }
        ASSERT_EQ(micros, expected) << date;
        expected += 86400 * int64_t{1000000};
      }
    }
  }
  EXPECT_EQ(expected, Micros("2200-01-01T00:00:00Z"));
}

TEST(LogTimeTest, OnlyTheTwoFormsLookLikeATime) {
  for (const char* text : {"29/Feb", "1/x", "2016-", " 1/Mar", "99/"}) {
    EXPECT_TRUE(LooksLikeLogTime(text)) << text;
  }
  for (const char* text : {"", "2", "29", "Thu Oct", "error", "129/", "16-02",
                           "a/b", "[1/", "::1", "/"}) {
    EXPECT_FALSE(LooksLikeLogTime(text)) << text;
  }
}

}  // namespace
}  // namespace weir::cli
