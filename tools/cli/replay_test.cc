#include "tools/cli/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/replay_fixture.h"
#include "tools/cli/run_setup.h"
#include "tools/cli/time_units.h"

namespace weir::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kOnePerMinute[] =
    R"({"rules": [{"algorithm": "uniform", "interval": "1m"}]})";

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(Replay, NamesTheColumnsWhereOneIsMissing) {
  FakeSource source({"time", "client"}, {"odd\n.csv"});
  ReplayFixture fixture(kOnePerMinute);
  const absl::Status status = fixture.Run(&source);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(Message(status),
            "limits.json: rules[0].key: odd\\x0a.csv has no column {key}; the "
            "columns are: time, client");
}

TEST(Replay, NamesTheRuleAndTheTagOfAMissingColumn) {
  FakeSource source({"a"});
  ReplayFixture fixture(R"({"tag": "{b}", "rules": [
      {"name": "x", "algorithm": "uniform", "interval": "1s", "key": "{a}{b}"},
      {"name": "y", "algorithm": "uniform", "interval": "1s", "key": "{b}"}]})");
  EXPECT_THAT(Message(fixture.Run(&source)),
              StartsWith("limits.json: rules[0].key: fake.csv has no column"));
}

TEST(Replay, CountsAKeyThatIsTooLongAsMalformed) {
  FakeSource source({"key"});
  source.AddRow(0, {std::string(65536, 'k')});
  source.AddRow(0, {std::string(65537, 'k')});
  source.AddRow(0, {""});
  ReplayFixture fixture(kOnePerMinute);
  ASSERT_TRUE(fixture.Run(&source).ok());
  EXPECT_THAT(fixture.malformed,
              ElementsAre("fake.csv:3: the key of rule \"default\" has 65537 "
                          "bytes; allowed: at most 65536"));
  EXPECT_EQ(fixture.report->input().malformed, 1u);
  EXPECT_EQ(fixture.report->input().checks, 2u);
  EXPECT_EQ(fixture.report->rule(0).allowed, 2u);
}

TEST(Replay, SkipsMalformedLines) {
  FakeSource source({"key"});
  source.AddMalformed("torn");
  source.AddRow(0, {"a"});
  ReplayFixture fixture(kOnePerMinute);
  ASSERT_TRUE(fixture.Run(&source).ok());
  EXPECT_THAT(fixture.malformed, ElementsAre("fake.csv:2: torn"));
  EXPECT_EQ(fixture.report->input().malformed, 1u);
  EXPECT_EQ(fixture.report->input().lines, 3u);
  EXPECT_EQ(fixture.report->rule(0).calls(), 1u);
}

TEST(Replay, StopsAtTheFirstMalformedLineIfStrict) {
  FakeSource source({"key"});
  source.AddRow(0, {"a"});
  source.AddMalformed("torn");
  source.AddRow(0, {"b"});
  ReplayFixture fixture(kOnePerMinute);
  EXPECT_TRUE(
      absl::IsFailedPrecondition(fixture.Run(&source, /*strict=*/true)));
  EXPECT_EQ(fixture.report->input().checks, 1u);
}

TEST(Replay, PassesOnWhatTheSourceCouldNotRead) {
  FakeSource source({"key"});
  source.AddError(absl::UnavailableError("disk gone"));
  ReplayFixture fixture(kOnePerMinute);
  EXPECT_EQ(fixture.Run(&source), absl::UnavailableError("disk gone"));
}

TEST(Replay, DecidesAtTheTimeOfTheRow) {
  FakeSource source({"key"});
  for (const int64_t second : {0, 59, 60, 119, 120}) {
    source.AddRow(second * kS, {"a"});
  }
  ReplayFixture fixture(kOnePerMinute);
  ASSERT_TRUE(fixture.Run(&source).ok());
  EXPECT_EQ(fixture.report->rule(0).allowed, 3u);
  EXPECT_EQ(fixture.report->rule(0).denied, 2u);
}

TEST(Replay, DecidesTimesBefore1970) {
  FakeSource source({"key"});
  for (const int64_t second : {-100, -100, -41, -40, 0, 20}) {
    source.AddRow(second * kS, {"a"});
  }
  ReplayFixture fixture(kOnePerMinute);
  ASSERT_TRUE(fixture.Run(&source).ok());
  EXPECT_EQ(fixture.report->rule(0).allowed, 3u);
  EXPECT_EQ(fixture.report->rule(0).denied, 3u);
}

// As two files of a day each, one behind the other.
TEST(Replay, ALateRowMeetsWhatItsKeyHasSeen) {
  FakeSource source({"key"});
  source.AddRow(100'000 * kS, {"a"});
  for (int i = 0; i < 5'000; ++i) {
    source.AddRow((200'000 + i) * kS, {std::to_string(i)});
  }
  source.AddRow(99'990 * kS, {"a"});
  ReplayFixture fixture(kOnePerMinute);
  ASSERT_TRUE(fixture.Run(&source).ok());
  EXPECT_EQ(fixture.report->rule(0).allowed, 5'001u);
  EXPECT_EQ(fixture.report->rule(0).denied, 1u);
}

TEST(Replay, AppliesOperationsAndCountsThemApart) {
  FakeSource source({"key"});
  source.AddRow(0, {"a"});
  source.AddRow(0, {"a"}, 1, Op::kPeek);
  source.AddRow(0, {"a"});
  source.AddRow(0, {"a"}, 1, Op::kReset);
  source.AddRow(0, {"a"});
  source.AddRow(0, {"a"}, 1, Op::kRefund);
  source.AddRow(0, {"a"});
  ReplayFixture fixture(kOnePerMinute);
  ASSERT_TRUE(fixture.Run(&source).ok());
  const InputCounts& in = fixture.report->input();
  EXPECT_EQ(in.checks, 4u);
  EXPECT_EQ(in.peeks, 1u);
  EXPECT_EQ(in.resets, 1u);
  EXPECT_EQ(in.refunds, 1u);
  EXPECT_EQ(fixture.report->rule(0).allowed, 3u);
  EXPECT_EQ(fixture.report->rule(0).denied, 1u);
  EXPECT_EQ(fixture.report->TopDenied(0, 1)[0].calls, 4u);
}

TEST(Replay, AsksSeveralRulesWithKeysOfTheirOwn) {
  FakeSource source({"host", "client"});
  for (const char* client : {"a", "a", "b", "c", "d"}) {
    source.AddRow(0, {"h", client});
  }
  ReplayFixture fixture(R"({"tag": "{host}", "rules": [
      {"name": "resource", "algorithm": "sliding_log", "limit": 3,
       "window": "10s", "key": "{host}"},
      {"name": "consumer", "algorithm": "sliding_log", "limit": 1,
       "window": "10s", "key": "{host}/{client}"}]})");
  ASSERT_TRUE(fixture.Run(&source).ok());
  const Report& report = *fixture.report;
  // a passes, the second a is the consumer's to deny; b and c pass, and d finds
  // the resource used up.
  EXPECT_EQ(report.overall().allowed, 3u);
  EXPECT_EQ(report.overall().denied, 2u);
  EXPECT_EQ(report.rule(0).denied, 1u);
  EXPECT_EQ(report.rule(1).denied, 1u);
  EXPECT_EQ(report.keys(0), 1u);
  EXPECT_EQ(report.keys(1), 4u);
  EXPECT_EQ(report.TopDenied(1, 5).at(0).key, "h/a");
}

TEST(Replay, SetsNoBoundOnKeysAndTheirMemory) {
  const MemoryStoreOptions options = EmbeddedOptions();
  EXPECT_EQ(options.max_keys, 0);
  EXPECT_EQ(options.max_bytes, 0);
  EXPECT_TRUE(EmbeddedStore().ok());
}

TEST(OrderWatch, CountsTimesBelowTheGreatestSoFar) {
  auto source = std::make_unique<FakeSource>(std::vector<std::string>{"key"});
  for (const int64_t t : {10, 10, 9, 12, 11, 2, 12}) source->AddRow(t, {"a"});
  ReplayFixture fixture(kOnePerMinute);
  OrderWatch watch(std::move(source), fixture.report->mutable_input());
  ASSERT_TRUE(fixture.Run(&watch).ok());
  EXPECT_EQ(fixture.report->input().out_of_order, 3u);
  EXPECT_EQ(fixture.report->input().latest_us, 10);
  EXPECT_EQ(fixture.report->input().first_us, 2);
  EXPECT_EQ(fixture.report->input().last_us, 12);
}

}  // namespace
}  // namespace weir::cli
