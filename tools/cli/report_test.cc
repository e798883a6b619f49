#include "tools/cli/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/cli/human.h"
#include "tools/cli/replay_fixture.h"
#include "tools/cli/report_json.h"
#include "tools/cli/report_text.h"
#include "tools/cli/time_units.h"

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// 2023-11-14 22:13:00 UTC: a full minute.
constexpr int64_t kStart = 1'699'999'980 * kS;

// Two calls in ten seconds, from the first one. Worked out by hand:
//   second 0, 1   a passes twice, the window is open until second 10
//   second 2      a is denied, 8 s to wait
//   second 3      b passes
//   second 4      a with cost 3: never
//   second 60, 61 a passes twice, until second 70
//   second 62     a is denied, 8 s;  63: 7 s;  63.5: 6.5 s
ReplayFixture Worked() {
  FakeSource source({"key"});
  const auto add = [&](double second, const char* key, int64_t cost = 1) {
    source.AddRow(kStart + static_cast<int64_t>(second * 1e6), {key}, cost);
  };
  add(0, "a");
  add(1, "a");
  add(2, "a");
  add(3, "b");
  add(4, "a", 3);
  add(60, "a");
  add(61, "a");
  add(62, "a");
  add(63, "a");
  add(63.5, "a");
  ReplayFixture fixture(R"({"rules": [{"name": "two", "soft": 0.5,
      "algorithm": "fixed_window", "limit": 2, "window": "10s"}]})");
  EXPECT_TRUE(fixture.Run(&source).ok());
  return fixture;
}

TEST(Report, CountsASmallTraceRight) {
  const ReplayFixture fixture = Worked();
  const Report& report = *fixture.report;
  EXPECT_TRUE(report.overall_is_rule());
  const Tally& tally = report.rule(0);
  EXPECT_EQ(tally.calls(), 10u);
  EXPECT_EQ(tally.allowed, 5u);
  EXPECT_EQ(tally.denied, 5u);
  EXPECT_EQ(tally.never, 1u);
  EXPECT_EQ(tally.denied_share(), 0.5);
  // 6.5, 7, 8, 8: the second of four is the median.
  EXPECT_EQ(tally.waits.count(), 4u);
  EXPECT_NEAR(static_cast<double>(tally.waits.Quantile(500)), 7e6, 7e3);
  EXPECT_EQ(tally.waits.Quantile(990), 8 * kS);
  EXPECT_EQ(tally.waits.max(), 8 * kS);
  EXPECT_EQ(tally.worst_minute.Find()->start_us, kStart + 60 * kS);
  EXPECT_EQ(tally.worst_minute.Find()->denied, 3u);
  EXPECT_EQ(report.keys(0), 2u);
  EXPECT_EQ(report.keys_denied(0), 1u);
  const std::vector<DeniedKey> top = report.TopDenied(0, 10);
  ASSERT_EQ(top.size(), 1u);
  EXPECT_EQ(top[0].key, "a");
  EXPECT_EQ(top[0].calls, 9u);
  EXPECT_EQ(top[0].denied, 5u);
  EXPECT_EQ(report.input().first_us, kStart);
  EXPECT_EQ(report.input().last_us, kStart + 63'500'000);
}

TEST(Report, OrdersDeniedKeysByDenialsThenBytes) {
  FakeSource source({"key"});
  const std::vector<std::pair<const char*, int>> denials = {
      {"c", 2}, {"a", 1}, {"d", 3}, {"b", 2}, {"e", 0}};
  for (const auto& [key, denied] : denials) {
    for (int i = 0; i <= denied; ++i) source.AddRow(0, {key});
  }
  ReplayFixture fixture(
      R"({"rules": [{"algorithm": "uniform", "interval": "1s"}]})");
  ASSERT_TRUE(fixture.Run(&source).ok());
  const auto names = [&](size_t most) {
    std::string text;
    for (const DeniedKey& key : fixture.report->TopDenied(0, most)) {
      text += std::string(key.key);
    }
    return text;
  };
  EXPECT_EQ(names(10), "dbca");
  EXPECT_EQ(names(2), "db");
  EXPECT_EQ(names(0), "");
}

TEST(Report, CountsDenialsOfEachRuleWhereTheyShareTheirKeys) {
  FakeSource source({"key"});
  for (const char* key : {"a", "a", "a", "b"}) source.AddRow(0, {key});
  ReplayFixture fixture(R"({"rules": [
      {"name": "wide", "algorithm": "sliding_log", "limit": 9,
       "window": "1s"},
      {"name": "one", "algorithm": "uniform", "interval": "1s"}]})");
  ASSERT_TRUE(fixture.Run(&source).ok());
  EXPECT_EQ(fixture.report->keys(0), 2u);
  EXPECT_EQ(fixture.report->keys(1), 2u);
  EXPECT_EQ(fixture.report->keys_denied(0), 0u);
  EXPECT_EQ(fixture.report->keys_denied(1), 1u);
  EXPECT_EQ(fixture.report->TopDenied(1, 5).at(0).denied, 2u);
}

TEST(Report, LeavesRulesThatOnlyObserveOutOfTheWhole) {
  FakeSource source({"key"});
  for (int i = 0; i < 3; ++i) source.AddRow(0, {"a"});
  ReplayFixture fixture(R"({"rules": [
      {"algorithm": "uniform", "interval": "1s", "observe": true}]})");
  ASSERT_TRUE(fixture.Run(&source).ok());
  EXPECT_FALSE(fixture.report->overall_is_rule());
  EXPECT_EQ(fixture.report->overall().denied, 0u);
  EXPECT_EQ(fixture.report->rule(0).denied, 2u);
}

TEST(ReportText, ShowsThePlainNumbers) {
  const ReplayFixture fixture = Worked();
  const std::string text = ReportText(*fixture.report, {"worked.csv"}, {});
  for (const char* expected :
       {"Replay of worked.csv\n",
        "2023-11-14 22:13:00 to 2023-11-14 22:14:03, 1 min 4 s\n",
        "Rule \"two\": fixed_window, limit 2, window 10s\n",
        "  denied                   5  50.0 %\n",
        "median 7 s, 99 % within 8 s, longest 8 s\n",
        "  worst minute  2023-11-14 22:14 UTC, 3 denied\n",
        "  keys                     2  of which 1 was denied at least once\n",
        "  a                           5            9    55.6 %\n"}) {
    EXPECT_THAT(text, HasSubstr(expected));
  }
  // Ten-second rows: the first has two allowed and two denied of five calls.
  EXPECT_THAT(text, HasSubstr("each row 5 s, "));
  EXPECT_THAT(text, HasSubstr("2023-11-14 22:13:00  "));
  EXPECT_THAT(text, Not(HasSubstr("malformed")));
  EXPECT_THAT(text, Not(HasSubstr("out of order")));
}

TEST(ReportText, HasAnAsciiForm) {
  FakeSource source({"key"});
  source.AddRow(0, {"caf\xc3\xa9\x1b[2J"});
  source.AddRow(0, {"caf\xc3\xa9\x1b[2J"});
  ReplayFixture fixture(
      R"({"rules": [{"algorithm": "uniform", "interval": "1s"}]})");
  ASSERT_TRUE(fixture.Run(&source).ok());
  TextOptions options;
  options.ascii = true;
  const std::string text = ReportText(*fixture.report, {"f"}, options);
  for (const char c : text) {
    EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7F));
  }
  EXPECT_THAT(text, HasSubstr("caf\\u{e9}\\x1b[2J"));
  EXPECT_THAT(text, HasSubstr("####################--------------------"));
}

TEST(ReportText, CanBeEmpty) {
  ReplayFixture fixture(
      R"({"rules": [{"algorithm": "uniform", "interval": "1s"}]})");
  const std::string text = ReportText(*fixture.report, {"f"}, {});
  EXPECT_THAT(text, HasSubstr("  denied                   0  0 %\n"));
}

TEST(ReportJson, HasTheSameNumbers) {
  const ReplayFixture fixture = Worked();
  const auto json = nlohmann::json::parse(
      ReportJson(*fixture.report, {"worked.csv"}, 10, false));
  EXPECT_EQ(json["input"]["files"][0], "worked.csv");
  EXPECT_EQ(json["input"]["calls"], 10);
  EXPECT_EQ(json["input"]["first_time_us"], kStart);
  EXPECT_EQ(json["overall"]["denied"], 5);
  const auto& rule = json["rules"][0];
  EXPECT_EQ(rule["name"], "two");
  EXPECT_EQ(rule["parameters"]["window"], "10s");
  EXPECT_EQ(rule["parameters"]["limit"], 2);
  EXPECT_EQ(rule["allowed"], 5);
  EXPECT_EQ(rule["denied"], 5);
  EXPECT_EQ(rule["denied_share"], 0.5);
  EXPECT_EQ(rule["never"], 1);
  EXPECT_EQ(rule["waits"]["worst_us"], 8 * kS);
  EXPECT_EQ(rule["worst_minute"]["start_us"], kStart + 60 * kS);
  EXPECT_EQ(rule["worst_minute"]["denied"], 3);
  EXPECT_EQ(rule["top_denied"][0]["key"], "a");
  EXPECT_EQ(rule["top_denied"][0]["denied"], 5);
  int64_t allowed = 0;
  for (const auto& bucket : rule["time_line"]["buckets"]) {
    allowed += bucket["allowed"].get<int64_t>();
  }
  EXPECT_EQ(allowed, 5);
}

TEST(ReportJson, CanBeEmpty) {
  ReplayFixture fixture(
      R"({"rules": [{"algorithm": "uniform", "interval": "1s"}]})");
  const auto json =
      nlohmann::json::parse(ReportJson(*fixture.report, {"f"}, 10, false));
  EXPECT_TRUE(json["input"]["first_time_us"].is_null());
  EXPECT_TRUE(json["rules"][0]["worst_minute"].is_null());
  EXPECT_TRUE(json["rules"][0]["waits"]["median_us"].is_null());
  EXPECT_TRUE(json["rules"][0]["time_line"]["buckets"].empty());
}

TEST(Human, WritesNumbersAsPeopleReadThem) {
  EXPECT_EQ(Thousands(0), "0");
  EXPECT_EQ(Thousands(999), "999");
  EXPECT_EQ(Thousands(1000), "1,000");
  EXPECT_EQ(Thousands(1234567), "1,234,567");
  EXPECT_EQ(Percent(0, 0), "0 %");
  EXPECT_EQ(Percent(1, 3), "33.3 %");
  EXPECT_EQ(Percent(1, 100'000), "< 0.1 %");
  EXPECT_EQ(Percent(99'999, 100'000), "> 99.9 %");
  EXPECT_EQ(Percent(5, 5), "100 %");
  EXPECT_EQ(HumanSpan(0), "0 s");
  EXPECT_EQ(HumanSpan(250), "250 us");
  EXPECT_EQ(HumanSpan(12'500), "12.5 ms");
  EXPECT_EQ(HumanSpan(2'999'999), "3 s");
  EXPECT_EQ(HumanSpan(59'900'000), "59.9 s");
  EXPECT_EQ(HumanSpan(59'999'999), "1 min");
  EXPECT_EQ(HumanSpan(999'999), "1 s");
  EXPECT_EQ(HumanSpan(3'599'999'999), "1 h");
  EXPECT_EQ(HumanSpan(86'399'999'999), "1 d");
  EXPECT_EQ(HumanSpan(303 * kS), "5 min 3 s");
  EXPECT_EQ(HumanSpan(3600 * kS), "1 h");
  EXPECT_EQ(HumanSpan(90'000 * kS), "1 d 1 h");
  EXPECT_EQ(HumanBytes(1'234'567), "1.2 MB");
}

TEST(Human, WritesTimesAsFarDownAsNeeded) {
  constexpr int64_t kT = kStart + 250'000;
  EXPECT_EQ(UtcTime(kT, 86'400 * kS), "2023-11-14");
  EXPECT_EQ(UtcTime(kT, 60 * kS), "2023-11-14 22:13");
  EXPECT_EQ(UtcTime(kT, kS), "2023-11-14 22:13:00");
  EXPECT_EQ(UtcTime(kT, 10'000), "2023-11-14 22:13:00.25");
  EXPECT_EQ(UtcTime(kT, 1), "2023-11-14 22:13:00.250000");
  EXPECT_EQ(UtcTime(-1, 1), "1969-12-31 23:59:59.999999");
}

TEST(Report, ShowsParametersWithEveryDigit) {
  const ReplayFixture fixture(R"({"rules": [
      {"algorithm": "ar1", "limit": 0.0000004, "decay_factor": 1.5000004,
       "resolution": "1s", "soft": 0.99999999}]})");
  const std::string text = ReportText(*fixture.report, {"t.csv"}, {});
  EXPECT_THAT(text, HasSubstr("limit 0.0000004, decay_factor 1.5000004"));
  EXPECT_THAT(text, HasSubstr("calls above 0.99999999 of the limit"));
  const std::string json = ReportJson(*fixture.report, {"t.csv"}, 10, false);
  const auto rule = nlohmann::json::parse(json)["rules"][0];
  EXPECT_EQ(rule["parameters"]["limit"].get<double>(), 0.0000004);
  EXPECT_EQ(rule["parameters"]["decay_factor"].get<double>(), 1.5000004);
}

}  // namespace
}  // namespace weir::cli
