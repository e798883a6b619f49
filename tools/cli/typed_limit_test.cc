#include "tools/cli/typed_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/cli/limit_text.h"

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::StatusOr<LimitsFile> Parse(std::string_view text,
                                 std::string_view key = "") {
  return ParseTypedLimit(text, key, Registry::BuiltIn(), TimeFromMicros(0));
}

TEST(TypedLimit, IsARuleOfLimitsJson) {
  const auto file = Parse(
      "  ar1 limit=1.5  decay_factor=2 resolution=10ms "
      "count_denied=false key={host}/{client} name=n "
      "observe=true soft=0.5 ");
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->rules.size(), 1u);
  const Rule& rule = file->rules[0];
  EXPECT_EQ(LimitText(rule.limit),
            "ar1, limit 1.5, decay_factor 2, resolution 10ms, count_denied "
            "false");
  EXPECT_EQ(rule.name, "n");
  EXPECT_TRUE(rule.observe);
  EXPECT_EQ(rule.soft, 0.5);
  EXPECT_EQ(file->keys[0].text(), "{host}/{client}");
}

TEST(TypedLimit, IsShownWithEveryDigit) {
  for (const std::string text :
       {"limit 0.0000004, decay_factor 1.5000004", "limit 100, decay_factor 2",
        "limit 0.1, decay_factor 1000000", "limit 1e-300, decay_factor 2",
        "limit 1234567.8, decay_factor 1.0000001234567"}) {
    std::string typed = "ar1 " + text + " resolution=1s";
    for (char& c : typed) c = c == ',' ? ' ' : c;
    typed.replace(typed.find("limit ") + 5, 1, "=");
    typed.replace(typed.find("factor ") + 6, 1, "=");
    const auto file = Parse(typed);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(LimitText(file->rules[0].limit),
              "ar1, " + text + ", resolution 1s");
  }
}

TEST(TypedLimit, TakesTheGivenKeyWhereItNamesNone) {
  EXPECT_EQ(Parse("unlimited")->keys[0].text(), "{key}");
  EXPECT_EQ(Parse("unlimited", "{a}")->keys[0].text(), "{a}");
  EXPECT_EQ(Parse("unlimited key=7", "{a}")->keys[0].text(), "7");
}

TEST(TypedLimit, SaysWhatIsWrongAndWhere) {
  const std::vector<std::vector<std::string>> wrong = {
      {"", "is empty", "gcra limit=10"},
      {"   ", "is empty"},
      {"gcra 10", "\"10\"", "name=value"},
      {"gcar limit=1", "\"gcar\"", "gcra"},
      {"gcra limit=1", "window: missing"},
      {"gcra limit=1 window=10", "window: is 10", "\"10s\""},
      {"gcra limit=x window=1s", "limit: is \"x\"", "whole number"},
      {"ar1 limit=1e-400 decay_factor=2 resolution=1s",
       "limit: 1e-400 is out of range"},
      {"gcra limit=1 window=1s limit=2", "limit: stands twice"},
      {"gcra limit=1 window=1s\", \"burst=2", "window"},
      {"gcra limit=1 window=1s key={", "key: \"{\""},
      {"gcra limit=1 window=1s color=red", "color: unknown field"}};
  for (const auto& say : wrong) {
    const absl::Status status = Parse(say[0]).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << say[0];
    const std::string message(status.message());
    EXPECT_THAT(message, StartsWith("--limit \""));
    for (size_t i = 1; i < say.size(); ++i) {
      EXPECT_THAT(message, HasSubstr(say[i]));
    }
  }
}

}  // namespace
}  // namespace weir::cli
