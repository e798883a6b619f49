#include "tools/cli/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/comparison_text.h"
#include "tools/cli/fake_source.h"
#include "tools/cli/run_setup.h"
#include "tools/cli/time_units.h"
#include "tools/cli/trace_run.h"
#include "tools/cli/typed_limit.h"

namespace weir::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Limits as they are typed, and one trace through them.
struct Compares {
  explicit Compares(const std::vector<std::string>& typed, size_t keep = 10) {
    for (const std::string& text : typed) {
      auto parsed = ParseTypedLimit(text, "{key}", Registry::BuiltIn(),
                                    TimeFromMicros(0));
      EXPECT_TRUE(parsed.ok()) << parsed.status();
      limits.push_back(std::make_unique<LimitsFile>(*std::move(parsed)));
      auto made = MakeLimiter(*limits.back(), text);
      EXPECT_TRUE(made.ok()) << made.status();
      limiters.push_back(std::make_unique<Limiter>(*std::move(made)));
    }
    std::vector<Compared> compared;
    for (size_t i = 0; i < typed.size(); ++i) {
      compared.push_back({typed[i], limits[i].get()});
    }
    comparison = std::make_unique<Comparison>(std::move(compared), keep);
  }

  absl::Status Run(RowSource* source, bool strict = false) {
    TraceRunParts run;
    run.source = source;
    for (size_t i = 0; i < limits.size(); ++i) {
      run.subjects.push_back({limiters[i].get(), limits[i].get(), "typed"});
    }
    run.counts = comparison->mutable_input();
    run.strict = strict;
    run.on_row = [&](const Row& row, absl::Span<const Answer> answers) {
      if (comparison->Add(row, answers)) {
        AppendDifference(*comparison, "", row, answers, &differences);
      }
      return absl::OkStatus();
    };
    return TraceRun(std::move(run)).Run();
  }

  std::vector<std::unique_ptr<LimitsFile>> limits;
  std::vector<std::unique_ptr<Limiter>> limiters;
  std::unique_ptr<Comparison> comparison;
  std::string differences;
};

// Two in ten seconds, in two ways, and one a second; by hand, for the key a:
//   second 0, 9   both pass everywhere
//   10            the fixed window is over, and the log forgets second 0: it
//                 passes everywhere
//   11            the fixed window has room for one more; the log holds 9 and
//                 10, and denies until 19; one a second passes
// Then b asks once, and for three at once: nobody ever allows that.
FakeSource Trace() {
  FakeSource source({"key"});
  for (const int64_t second : {0, 9, 10, 11}) {
    source.AddRow(second * kS, {"a"});
  }
  source.AddRow(12 * kS, {"b"});
  source.AddRow(12 * kS, {"b"}, 3);
  source.AddRow(12 * kS, {"a"}, 1, Op::kPeek);
  return source;
}
const std::vector<std::string> kLimits = {"fixed_window limit=2 window=10s",
                                          "sliding_log limit=2 window=10s",
                                          "uniform interval=1s"};

TEST(Comparison, CountsWhatOneAllowsAndAnotherDenies) {
  Compares compares(kLimits);
  FakeSource source = Trace();
  ASSERT_TRUE(compares.Run(&source).ok());
  const Comparison& c = *compares.comparison;
  EXPECT_EQ(c.input().checks, 6u);
  EXPECT_EQ(c.input().peeks, 1u);
  EXPECT_EQ(c.differing(), 1u);
  EXPECT_EQ(c.allowed_only_by(0, 1), 1u);
  EXPECT_EQ(c.allowed_only_by(2, 1), 1u);
  EXPECT_EQ(c.allowed_only_by(1, 0), 0u);
  EXPECT_EQ(c.allowed_only_by(0, 2), 0u);
  EXPECT_EQ(c.allowed_only_by(0, 0), 0u);
  // The cost of 3 is denied by all, and so alike.
  EXPECT_EQ(c.report(0).overall().denied, 1u);
  EXPECT_EQ(c.report(1).overall().denied, 2u);
  EXPECT_EQ(c.report(2).overall().denied, 1u);
  EXPECT_EQ(c.report(1).keys_denied(0), 2u);
}

TEST(Comparison, KeepsTheFirstCallsThatDiffer) {
  Compares compares(kLimits);
  FakeSource source = Trace();
  ASSERT_TRUE(compares.Run(&source).ok());
  ASSERT_EQ(compares.comparison->first().size(), 1u);
  const DifferingCall& call = compares.comparison->first()[0];
  EXPECT_EQ(call.line, 5u);
  EXPECT_EQ(call.time_us, 11 * kS);
  EXPECT_EQ(call.key, "a");
  ASSERT_EQ(call.verdicts.size(), 3u);
  EXPECT_TRUE(call.verdicts[0].allowed);
  EXPECT_FALSE(call.verdicts[1].allowed);
  EXPECT_EQ(call.verdicts[1].retry_after, Micros(8 * kS));
}

TEST(Comparison, RemembersNoMoreThanAsked) {
  Compares compares({"unlimited", "uniform interval=1h"}, 2);
  FakeSource source({"key"});
  for (int i = 0; i < 5; ++i) source.AddRow(0, {"a"});
  ASSERT_TRUE(compares.Run(&source).ok());
  EXPECT_EQ(compares.comparison->differing(), 4u);
  EXPECT_EQ(compares.comparison->first().size(), 2u);
}

TEST(Comparison, NamesTheKeysThatDifferMost) {
  Compares compares({"unlimited", "uniform interval=1h"});
  FakeSource source({"key"});
  for (const char* key : {"a", "b", "b", "c", "c", "b", "d"}) {
    source.AddRow(0, {key});
  }
  ASSERT_TRUE(compares.Run(&source).ok());
  const auto top = compares.comparison->TopDiffering(5);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].key, "b");
  EXPECT_EQ(top[0].calls, 3u);
  EXPECT_EQ(top[0].differing, 2u);
  EXPECT_THAT(top[0].denied, ElementsAre(0u, 2u));
  EXPECT_EQ(top[1].key, "c");
  EXPECT_EQ(compares.comparison->TopDiffering(1).size(), 1u);
  EXPECT_THAT(compares.comparison->TopDiffering(0), IsEmpty());
}

TEST(Comparison, WritesEachDifferenceAsALine) {
  Compares compares(kLimits);
  FakeSource source = Trace();
  ASSERT_TRUE(compares.Run(&source).ok());
  EXPECT_EQ(
      compares.differences,
      R"({"line": 5, "time_us": 11000000, "cost": 1, "limits": [)"
      R"({"limit": "A", "allowed": true, "rule": "default", "key": "a", )"
      R"("remaining": 0, "retry_after_us": 0}, )"
      R"({"limit": "B", "allowed": false, "rule": "default", "key": "a", )"
      R"("remaining": 0, "retry_after_us": 8000000}, )"
      R"({"limit": "C", "allowed": true, "rule": "default", "key": "a", )"
      R"("remaining": 0, "retry_after_us": 0}]})"
      "\n");
}

TEST(Comparison, IsTheSameAsData) {
  Compares compares(kLimits);
  FakeSource source = Trace();
  ASSERT_TRUE(compares.Run(&source).ok());
  const auto json = nlohmann::json::parse(
      ComparisonJson(*compares.comparison, {"fake.csv"}, 10, false));
  EXPECT_EQ(json["input"]["calls"], 6);
  EXPECT_EQ(json["differently"], 1);
  ASSERT_EQ(json["limits"].size(), 3u);
  EXPECT_EQ(json["limits"][1]["limit"], "B");
  EXPECT_EQ(json["limits"][1]["name"], kLimits[1]);
  EXPECT_EQ(json["limits"][1]["overall"]["denied"], 2);
  EXPECT_EQ(json["limits"][1]["rules"][0]["algorithm"], "sliding_log");
  ASSERT_EQ(json["pairs"].size(), 3u);
  EXPECT_EQ(json["pairs"][0]["a"], "A");
  EXPECT_EQ(json["pairs"][0]["b"], "B");
  EXPECT_EQ(json["pairs"][0]["only_a_allows"], 1);
  EXPECT_EQ(json["pairs"][0]["only_b_allows"], 0);
  EXPECT_EQ(json["pairs"][1]["differently"], 0);
  EXPECT_EQ(json["top_keys"][0]["key"], "a");
  EXPECT_EQ(json["first"][0]["line"], 5);
  uint64_t differently = 0;
  for (const auto& bucket : json["time_line"]["buckets"]) {
    differently += bucket["differently"].get<uint64_t>();
  }
  EXPECT_EQ(differently, 1u);
}

TEST(Comparison, SaysWhatAReaderAsks) {
  Compares compares(kLimits);
  FakeSource source = Trace();
  ASSERT_TRUE(compares.Run(&source).ok());
  TextOptions options;
  options.ascii = true;
  const std::string text =
      ComparisonText(*compares.comparison, {"fake.csv"}, options);
  for (const char* part :
       {"Comparison of fake.csv\n", "differently              1  16.7 %",
        "  B  sliding_log limit=2 window=10s\n", "  A  -  1  0\n",
        "  5     1970-01-01 00:00:11.000000    a     1  passes  8 s  passes",
        "no wait would have helped 1 call"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr(" \n")));
}

TEST(Comparison, DecidesARowByAllOrByNone) {
  Compares compares({"unlimited key={key}", "uniform interval=1h key={long}"});
  FakeSource source({"key", "long"});
  source.AddRow(0, {"a", std::string(65537, 'x')});
  source.AddRow(0, {"a", "b"});
  ASSERT_TRUE(compares.Run(&source).ok());
  EXPECT_EQ(compares.comparison->input().malformed, 1u);
  EXPECT_EQ(compares.comparison->input().checks, 1u);
  EXPECT_EQ(compares.comparison->report(0).overall().calls(), 1u);
  EXPECT_EQ(compares.comparison->report(1).overall().calls(), 1u);
}

}  // namespace
}  // namespace weir::cli
