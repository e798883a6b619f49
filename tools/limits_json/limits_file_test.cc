#include "tools/limits_json/limits_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"

namespace weir::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// 2023-11-14.
constexpr Time kNow = TimeFromMicros(1'700'000'000'000'000);

absl::StatusOr<LimitsFile> Parse(std::string_view text) {
  return ParseLimits(text, "limits.json", Registry::BuiltIn(), kNow);
}

std::string Message(std::string_view text) {
  const absl::StatusOr<LimitsFile> file = Parse(text);
  if (file.ok()) return "accepted";
  EXPECT_TRUE(absl::IsInvalidArgument(file.status()));
  return std::string(file.status().message());
}

TEST(Limits, ReadsResourceAndConsumer) {
  const absl::StatusOr<LimitsFile> file = Parse(R"({"tag": "{host}",
   "rules": [
    {"name": "resource", "algorithm": "sliding_log", "limit": 5,
     "window": "10s", "key": "{host}"},
    {"name": "consumer", "algorithm": "sliding_log", "limit": 3,
     "window": "10s", "key": "{host}/{client}", "observe": true,
     "soft": 0.8}]})");
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->rules.size(), 2u);
  EXPECT_EQ(file->rules[0].name, "resource");
  EXPECT_EQ(file->rules[0].limit.algorithm(), "sliding_log");
  const std::vector<std::pair<std::string, FieldValue>> fields = {
      {"limit", int64_t{3}}, {"window", Micros(10'000'000)}};
  EXPECT_EQ(file->rules[1].limit.fields(), fields);
  EXPECT_FALSE(file->rules[0].observe);
  EXPECT_TRUE(file->rules[1].observe);
  EXPECT_FALSE(file->rules[0].soft.has_value());
  EXPECT_EQ(file->rules[1].soft, 0.8);
  EXPECT_EQ(file->keys[1].text(), "{host}/{client}");
  ASSERT_TRUE(file->tag.has_value());
  EXPECT_EQ(file->tag->text(), "{host}");
}

TEST(Limits, HasDefaults) {
  const absl::StatusOr<LimitsFile> file = Parse(
      R"({"rules": [{"algorithm": "gcra", "limit": 1, "window": "1s"}]})");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->rules[0].name, "default");
  EXPECT_EQ(file->keys[0].text(), "{key}");
  EXPECT_FALSE(file->tag.has_value());
}

TEST(Limits, ALimitOfZeroIsBuiltWhateverTheRestSays) {
  for (const char* rest :
       {"", R"(, "window": "0s")", R"(, "window": "36601d")",
        R"(, "window": "99999999999999d")", R"(, "window": "0.1us")",
        R"(, "window": "1s", "burst": -1)"}) {
    EXPECT_EQ(
        Message(absl::StrCat(R"({"rules": [{"algorithm": "gcra", "limit": 0)",
                             rest, "}]}")),
        "accepted");
  }
}

TEST(Limits, TakesEveryAlgorithmByItsOwnFields) {
  // Built from the registry alone: a new engine is readable at once.
  for (const EngineInfo* engine : Registry::BuiltIn().engines()) {
    std::string rule =
        absl::StrCat(R"({"algorithm": ")", std::string(engine->name), "\"");
    for (const Field& field : engine->fields) {
      if (!field.fallback.empty()) continue;
      absl::StrAppend(&rule, ", \"", std::string(field.name), "\": ");
      switch (field.type) {
        case FieldType::kDuration:
          rule += "\"10s\"";
          break;
        case FieldType::kBool:
          rule += "true";
          break;
        case FieldType::kWord:
          absl::StrAppend(
              &rule, "\"",
              std::string(field.words.substr(0, field.words.find('|'))), "\"");
          break;
        default:
          rule += "5";
      }
    }
    EXPECT_EQ(Message(absl::StrCat(R"({"rules": [)", rule, "}]}")), "accepted")
        << rule;
  }
  EXPECT_EQ(Message(R"({"rules": [{"algorithm": "unlimited"}]})"), "accepted");
}

struct Wrong {
  std::string name;
  std::string text;
  std::string place;    // follows "limits.json: "
  std::string value;    // shown somewhere
  std::string allowed;  // shown somewhere
};

std::ostream& operator<<(std::ostream& out, const Wrong& wrong) {
  return out << wrong.name;
}

// A rule in a file of one rule.
std::string One(std::string_view members) {
  return absl::StrCat(R"({"rules": [{)", std::string(members), "}]}");
}
std::string Gcra(std::string_view more) {
  return One(absl::StrCat(R"("algorithm": "gcra", "limit": 5, "window": "10s")",
                          std::string(more)));
}
std::string Two(std::string_view first, std::string_view second,
                std::string_view top = "") {
  const std::string gcra =
      R"("algorithm": "gcra", "limit": 5, "window": "10s", )";
  return absl::StrCat(R"({"rules": [{)", gcra, std::string(first), "}, {", gcra,
                      std::string(second), "}]", std::string(top), "}");
}

// `limit` is text, so that it is spelt as it is.
std::string Ar1(std::string_view limit) {
  return One(absl::StrCat(R"("algorithm": "ar1", "resolution": "1s", )",
                          R"("limit": )", std::string(limit)));
}

const std::string kCounts = "allowed: a whole number from 1 to 1000000000000";
const std::string kLogCounts = "allowed: a whole number from 1 to 10000000";
const std::string kRealLimits =
    "allowed: a number above 0 and up to 1000000000000";
const std::string kDurations =
    "allowed: a duration like \"10s\", from 1us to 36600d";
const std::string kOrZero = ", or 0 to deny all";

TEST(Limits, TakesZeroHoweverItIsSpelt) {
  for (const char* zero : {"0", "0.0", "-0.0", "0e0", "0.000e-400"}) {
    const absl::StatusOr<LimitsFile> file = Parse(Ar1(zero));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(std::get<double>(file->rules[0].limit.fields()[1].second), 0.0);
  }
  // The least there is.
  EXPECT_EQ(Message(Ar1("5e-324, \"decay_factor\": 2")), "accepted");
}

TEST(Limits, TakesAnEscapedNul) {
  const absl::StatusOr<LimitsFile> file =
      Parse(Gcra(R"(, "name": "a\u0000b")"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->rules[0].name, std::string("a\0b", 3));
}

// An interval is no limit: 0 of it does not deny all.
TEST(Limits, OfferZeroOnlyWhereItDeniesAll) {
  for (const char* interval : {"\"0s\"", "0", "\"36601d\""}) {
    const std::string message = Message(
        One(absl::StrCat(R"("algorithm": "uniform", "interval": )", interval)));
    EXPECT_THAT(message, EndsWith(kDurations));
  }
  EXPECT_THAT(Message(One(R"("algorithm": "uniform")")), EndsWith(kDurations));
  EXPECT_THAT(Message(Gcra(R"(, "burst": 0)")), EndsWith(kCounts));
}

class WrongLimits : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongLimits, AreOneLineWithPlaceValueAndAllowed) {
  const std::string message = Message(GetParam().text);
  EXPECT_THAT(message, StartsWith("limits.json: " + GetParam().place));
  EXPECT_THAT(message, HasSubstr(GetParam().value));
  EXPECT_THAT(message, HasSubstr(GetParam().allowed));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  EXPECT_LT(message.size(), 500u);
}

INSTANTIATE_TEST_SUITE_P(
    Json, WrongLimits,
    ::testing::Values(
        Wrong{"Empty", "", "line 1, column 1: ", "is not JSON", ""},
        Wrong{"NoJson", "{\n  \"rules\": [,]}",
              "line 2, column 13: ", "is not JSON", ""},
        Wrong{"Unfinished", "{\"rules\": [",
              "line 1, column 12: ", "is not JSON", ""},
        Wrong{"TrailingGarbage", Gcra("") + "\n x",
              "line 2, column 2: ", "is not JSON", ""},
        Wrong{"TrailingComma", One(R"("algorithm": "gcra",)"),
              "line 1, column ", "is not JSON", ""},
        Wrong{"Comment", "// none\n" + Gcra(""),
              "line 1, column 1: ", "is not JSON", ""},
        Wrong{"NotUtf8", Gcra(", \"name\": \"\xff\""), "line 1, column ",
              "is not JSON", ""},
        Wrong{"NulBehind", Gcra("") + '\0' + "garbage", "line 1, column 64: ",
              "is not JSON: a NUL byte", "allowed: \\u0000 in a string"},
        Wrong{"NulAtTheEnd", Gcra("") + "\n" + '\0',
              "line 2, column 1: ", "is not JSON: a NUL byte", ""},
        Wrong{"NulInside", std::string("{\n\0}", 4),
              "line 2, column 1: ", "is not JSON: a NUL byte", ""},
        Wrong{"NulInAString", Gcra(", \"name\": \"a") + '\0' + "b\"",
              "line 1, column ", "is not JSON: ", ""},
        Wrong{"NulAlone", std::string(1, '\0'),
              "line 1, column 1: ", "is not JSON: a NUL byte", ""},
        Wrong{"AnotherErrorBeforeNul", std::string("{,}\0", 4),
              "line 1, column 2: ", "is not JSON: syntax error", ""},
        Wrong{"TooDeep", std::string(100, '['), "is nested deeper", "", ""},
        Wrong{"TwoMembersAlike", Gcra(R"(, "limit": 6)"),
              "rules[0].limit: ", "stands twice", ""},
        Wrong{"TwoTopMembersAlike", R"({"rules": [], "rules": []})",
              "rules: ", "stands twice", ""},
        Wrong{"NoObject", "[]", "is an array", "", "an object with rules"},
        Wrong{"NoRules", "{}", "rules: missing", "", "a list of rules"},
        Wrong{"RulesNoList", R"({"rules": {}})", "rules: ", "an object",
              "a list of rules"},
        Wrong{"RulesEmpty", R"({"rules": []})", "rules: ", "is empty",
              "one rule or more"},
        Wrong{"RuleNoObject", R"({"rules": [7]})", "rules[0]: ", "7",
              "an object"},
        Wrong{"TopFieldUnknown", R"({"rule": []})", "rule: ", "unknown field",
              "rules, tag"}),
    ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    Rule, WrongLimits,
    ::testing::Values(
        Wrong{"AlgorithmMissing", One(R"("limit": 5)"),
              "rules[0].algorithm: missing", "", "gcra"},
        Wrong{"AlgorithmUnknown", One(R"("algorithm": "leaky")"),
              "rules[0].algorithm: ", "\"leaky\"", "unlimited"},
        Wrong{"AlgorithmNoString", One(R"("algorithm": 5)"),
              "rules[0].algorithm: ", "5", "gcra"},
        Wrong{"FieldUnknown", Gcra(R"(, "windw": "1s")"),
              "rules[0].windw: ", "unknown field", "limit, window, burst"},
        Wrong{"FieldOfAnother", Gcra(R"(, "align": "first")"),
              "rules[0].align: ", "unknown field", "limit, window, burst"},
        Wrong{"UnlimitedWithField",
              One(R"("algorithm": "unlimited", "limit": 5)"),
              "rules[0].limit: ", "unknown field",
              "name, algorithm, key, observe, soft"},
        Wrong{"LimitMissing", One(R"("algorithm": "gcra", "window": "10s")"),
              "rules[0].limit: missing", kCounts, kOrZero},
        Wrong{"WindowMissing", One(R"("algorithm": "gcra", "limit": 5)"),
              "rules[0].window: missing", "", "a duration like \"10s\""},
        Wrong{"LimitNegative",
              One(R"("algorithm": "gcra", "limit": -1, "window": "10s")"),
              "rules[0].limit: ", "-1", kCounts},
        Wrong{"LimitBeyondAllNumbers",
              One(R"("algorithm": "gcra", "limit": 1e400, "window": "10s")"),
              "rules[0].limit: is 1e400; ", kCounts, kOrZero},
        Wrong{"LimitFarBelowZero",
              One(R"("algorithm": "gcra", "limit": -1E+400, "window": "10s")"),
              "rules[0].limit: is -1E+400; ", kCounts, kOrZero},
        Wrong{"LimitOf5000Digits",
              One(absl::StrCat(R"("algorithm": "gcra", "window": "10s",)",
                               R"( "limit": )", std::string(5000, '9'))),
              "rules[0].limit: is 999", kCounts, kOrZero},
        Wrong{"RealBeyondAllNumbers", Ar1("1e400"),
              "rules[0].limit: is 1e400; ", kRealLimits, kOrZero},
        Wrong{
            "OneOfSeveralBeyondAllNumbers",
            Gcra(R"(, "name": "1e400 \" 1e400", "soft": 0.5, "burst": 1e400)"),
            "rules[0].burst: is 1e400; ", kCounts, ""},
        Wrong{"SoftBeyondAllNumbers", Gcra(R"(, "soft": 1e400)"),
              "rules[0].soft: is 1e400; ", "allowed: a number above 0", ""},
        Wrong{"ErrorBehindAHugeNumber", "{\"a\": 1e400,\n}",
              "line 2, column 1: ", "is not JSON", ""},
        Wrong{"NoNumberThoughHuge", "{\"a\": 1e400.5}", "line 1, column ",
              "is not JSON", ""},
        Wrong{"LimitFraction",
              One(R"("algorithm": "gcra", "limit": 1.5, "window": "10s")"),
              "rules[0].limit: is 1.5; ", kCounts, kOrZero},
        Wrong{"LimitReal",
              One(R"("algorithm": "gcra", "limit": 5.0, "window": "10s")"),
              "rules[0].limit: ", "5.0", kCounts},
        Wrong{"LimitString",
              One(R"("algorithm": "gcra", "limit": "5", "window": "10s")"),
              "rules[0].limit: ", "\"5\"", kCounts},
        Wrong{"LimitNull",
              One(R"("algorithm": "gcra", "limit": null, "window": "10s")"),
              "rules[0].limit: ", "null", kCounts},
        Wrong{"LimitTooGreat",
              One(R"("algorithm": "gcra", "limit": 1000000000001,)"
                  R"( "window": "10s")"),
              "rules[0].limit: ", "1000000000001", kCounts},
        Wrong{"LimitBeyond64Bits",
              One(R"("algorithm": "gcra", "limit": 18446744073709551616,)"
                  R"( "window": "10s")"),
              "rules[0].limit: ", "18446744073709551616", kCounts},
        Wrong{"LogLimitTooGreat",
              One(R"("algorithm": "sliding_log", "limit": 10000001,)"
                  R"( "window": "10s")"),
              "rules[0].limit: is 10000001; ", kLogCounts,
              kOrZero + "; gcra, fixed_window and sliding_window_counter"},
        Wrong{"LogListLimitTooGreat",
              One(R"("algorithm": "sliding_log_list", "limit": 10000001,)"
                  R"( "window": "10s")"),
              "rules[0].limit: is 10000001; ", kLogCounts,
              kOrZero + "; gcra, fixed_window and sliding_window_counter"},
        Wrong{"RealTooGreat", Ar1("1e13"), "rules[0].limit: is 1e13; ",
              kRealLimits, kOrZero},
        Wrong{"RealNegative", Ar1("-1"), "rules[0].limit: is -1; ", kRealLimits,
              kOrZero},
        Wrong{"RealString", Ar1("\"1\""), "rules[0].limit: is \"1\"; ",
              kRealLimits, kOrZero},
        Wrong{"DecayOfOne", Ar1("1, \"decay_factor\": 1"),
              "rules[0].decay_factor: is 1; ", "",
              "a number above 1 and up to 1000000000000"},
        Wrong{"DecayTooGreat", Ar1("1, \"decay_factor\": 1000000000000.5"),
              "rules[0].decay_factor: is 1000000000000.5; ", "",
              "a number above 1 and up to 1000000000000"},
        Wrong{"RealTooSmall", Ar1("1e-400"),
              "rules[0].limit: ", "1e-400 is out of range", kRealLimits},
        Wrong{"RealTooSmallBelowZero", Ar1("-0.001E-400"),
              "rules[0].limit: ", "-0.001E-400 is out of range", ""},
        Wrong{"RealTooSmallInAnotherField", Ar1("1, \"decay_factor\": 1e-400"),
              "rules[0].decay_factor: ", "1e-400 is out of range",
              "allowed: a number above 1"},
        Wrong{"SoftTooSmall", Gcra(R"(, "soft": 1e-400)"),
              "rules[0].soft: ", "1e-400", "above 0"},
        Wrong{"WindowNumber",
              One(R"("algorithm": "gcra", "limit": 5, "window": 10)"),
              "rules[0].window: ", "10", "a duration like \"10s\""},
        Wrong{"WindowZero",
              One(R"("algorithm": "gcra", "limit": 5, "window": "0s")"),
              "rules[0].window: ", "\"0s\"", "from 1us"},
        Wrong{"WindowNegative",
              One(R"("algorithm": "gcra", "limit": 5, "window": "-1s")"),
              "rules[0].window: ", "\"-1s\"", "from 1us"},
        Wrong{"WindowTooLong",
              One(R"("algorithm": "gcra", "limit": 5, "window": "36601d")"),
              "rules[0].window: ", "\"36601d\"", "36600d"},
        Wrong{"WindowWithoutUnit",
              One(R"("algorithm": "gcra", "limit": 5, "window": "10")"),
              "rules[0].window: ", "\"10\"", "us, ms, s, m, h, d"},
        Wrong{
            "WindowPartOfMicrosecond",
            One(R"("algorithm": "gcra", "limit": 5, "window": "1.5us")"),
            "rules[0].window: \"1.5us\" is not a whole number of microseconds",
            kDurations, ""},
        Wrong{"WindowBeyondAllDurations",
              One(R"("algorithm": "gcra", "limit": 5,)"
                  R"( "window": "99999999999999d")"),
              "rules[0].window: \"99999999999999d\" is more than 2^53 - 1 us",
              kDurations, ""},
        Wrong{"IntervalOfNothing",
              One(R"("algorithm": "uniform", "interval": "0s")"),
              "rules[0].interval: is \"0s\"; ", kDurations, ""},
        Wrong{"WordUnknown",
              One(R"("algorithm": "fixed_window", "limit": 5,)"
                  R"( "window": "1s", "align": "day")"),
              "rules[0].align: ", "\"day\"", "epoch"},
        Wrong{"OnlyTheEngineKnows",
              One(R"("algorithm": "gcra", "limit": 1, "window": "36600d",)"
                  R"( "burst": 1000)"),
              "rules[0].burst: ", "1000", "allowed: at most "},
        Wrong{"NameNoString", Gcra(R"(, "name": 5)"), "rules[0].name: ", "5",
              "a string"},
        Wrong{"NameEmpty", Gcra(R"(, "name": "")"), "rules[0].name: ", "\"\"",
              "at least one character"},
        Wrong{"ObserveNoBool", Gcra(R"(, "observe": 1)"),
              "rules[0].observe: ", "1", "true or false"},
        Wrong{"SoftZero", Gcra(R"(, "soft": 0)"), "rules[0].soft: ", "0",
              "above 0"},
        Wrong{"SoftTooGreat", Gcra(R"(, "soft": 1.01)"),
              "rules[0].soft: ", "1.01", "up to 1"},
        Wrong{"SoftNoNumber", Gcra(R"(, "soft": "0.8")"),
              "rules[0].soft: ", "\"0.8\"", "above 0"},
        Wrong{"KeyNoString", Gcra(R"(, "key": ["a"])"),
              "rules[0].key: ", "an array", "\"{client}\""},
        Wrong{"KeyNotClosed", Gcra(R"(, "key": "{client")"),
              "rules[0].key: ", "\"{client\"", "{column}"},
        Wrong{"ValueWithControls", Gcra(R"(, "key": "\u001b[31m{")"),
              "rules[0].key: ", "\\x1b[31m", "{column}"}),
    ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    Rules, WrongLimits,
    ::testing::Values(
        Wrong{"NameMissing", Two(R"("name": "a")", R"("key": "{key}")"),
              "rules[1].name: missing", "", "a name of its own"},
        Wrong{"NameTwice", Two(R"("name": "a")", R"("name": "a")"),
              "rules[1].name: ", "\"a\"", "a name of its own"},
        Wrong{"TagMissing",
              Two(R"("name": "a", "key": "{x}")", R"("name": "b")"),
              "tag: missing; rules[1] (\"b\")", "", "\"{host}\""},
        Wrong{"TagColumnNotInEveryKey",
              Two(R"("name": "a", "key": "{x}/{y}")",
                  R"("name": "b", "key": "{y}")", R"(, "tag": "{x}")"),
              "tag: ", "{x}, which the key of rules[1] (\"b\") lacks",
              "every rule's key"},
        Wrong{"TagNoString",
              Two(R"("name": "a")", R"("name": "b")", R"(, "tag": 1)"),
              "tag: ", "1", "a string"},
        Wrong{"TagNotClosed",
              Two(R"("name": "a")", R"("name": "b")", R"(, "tag": "}")"),
              "tag: ", "\"}\"", "{column}"}),
    ::testing::PrintToStringParamName());

TEST(Limits, NeedNoTagWhereTheKeysAreAlike) {
  EXPECT_EQ(Message(Two(R"("name": "a", "key": "{x}")",
                        R"("name": "b", "key": "{x}")")),
            "accepted");
}

TEST(Limits, SayThatTheFileIsNotThere) {
  const absl::StatusOr<LimitsFile> file =
      ReadLimits("no/such/limits.json", Registry::BuiltIn(), kNow);
  EXPECT_EQ(file.status().message(),
            "no/such/limits.json: cannot be opened: No such file or directory");
}

TEST(Limits, SayThatTheFileIsAFolder) {
  const absl::StatusOr<LimitsFile> file =
      ReadLimits(::testing::TempDir(), Registry::BuiltIn(), kNow);
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("cannot be read: Is a directory"));
}

}  // namespace
}  // namespace weir::cli
