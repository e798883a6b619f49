#include "tools/cli/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(List, ShowsEveryAlgorithmAndParameter) {
  const absl::StatusOr<std::string> text = ListText(Registry::BuiltIn(), "");
  ASSERT_TRUE(text.ok());
  for (const EngineInfo* engine : Registry::BuiltIn().engines()) {
    EXPECT_THAT("\n" + *text,
                HasSubstr("\n" + std::string(engine->name) + "\n"));
    for (const Field& field : engine->fields) {
      EXPECT_THAT(*text, HasSubstr("\n  " + std::string(field.name) + " "));
    }
  }
  EXPECT_THAT(*text, HasSubstr("\nunlimited\n"));
}

TEST(List, KeepsWithinEightyColumns) {
  std::istringstream lines(*ListText(Registry::BuiltIn(), ""));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
    EXPECT_THAT(line, Not(::testing::EndsWith(" ")));
  }
}

TEST(List, ExplainsOneAlone) {
  const absl::StatusOr<std::string> text =
      ListText(Registry::BuiltIn(), "fixed_window");
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("fixed_window\n"));
  EXPECT_THAT(*text, HasSubstr("\"first\" or \"epoch\"; default"));
  EXPECT_THAT(*text, Not(HasSubstr("gcra\n")));
}

TEST(List, NamesWhatThereIsForAnUnknownOne) {
  const absl::StatusOr<std::string> text = ListText(Registry::BuiltIn(), "x");
  EXPECT_TRUE(absl::IsInvalidArgument(text.status()));
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("gcra"));
  EXPECT_FALSE(ListJson(Registry::BuiltIn(), "x").ok());
}

TEST(List, IsTheSameAsData) {
  const auto json = nlohmann::json::parse(*ListJson(Registry::BuiltIn(), ""));
  ASSERT_EQ(json.size(), Registry::BuiltIn().engines().size() + 1);
  for (size_t i = 0; i < json.size() - 1; ++i) {
    const EngineInfo& engine = *Registry::BuiltIn().engines()[i];
    EXPECT_EQ(json[i]["name"], std::string(engine.name));
    EXPECT_EQ(json[i]["worst_case"], std::string(engine.doc.worst_case));
    ASSERT_EQ(json[i]["parameters"].size(), engine.fields.size());
    for (size_t f = 0; f < engine.fields.size(); ++f) {
      const auto& parameter = json[i]["parameters"][f];
      EXPECT_EQ(parameter["name"], std::string(engine.fields[f].name));
      EXPECT_EQ(parameter["default"].is_null(),
                engine.fields[f].fallback.empty());
    }
  }
  EXPECT_EQ(json.back()["name"], "unlimited");
}

// What `weir list --json` says of a parameter.
std::string AllowedFor(const std::string& algorithm, const std::string& name) {
  const auto json =
      nlohmann::json::parse(*ListJson(Registry::BuiltIn(), algorithm));
  for (const auto& parameter : json[0]["parameters"]) {
    if (parameter["name"] == name) return parameter["allowed"];
  }
  return "nothing";
}

TEST(List, TellsTheRangeThatIsTaken) {
  EXPECT_EQ(AllowedFor("gcra", "limit"),
            "a whole number from 1 to 1000000000000, or 0 to deny all");
  EXPECT_EQ(AllowedFor("gcra", "burst"),
            "a whole number from 1 to 1000000000000");
  for (const char* log : {"sliding_log", "sliding_log_list"}) {
    EXPECT_EQ(AllowedFor(log, "limit"),
              "a whole number from 1 to 10000000, or 0 to deny all");
  }
  EXPECT_EQ(AllowedFor("ar1", "limit"),
            "a number above 0 and up to 1000000000000, or 0 to deny all");
  EXPECT_EQ(AllowedFor("ar1", "decay_factor"),
            "a number above 1 and up to 1000000000000");
  EXPECT_EQ(AllowedFor("uniform", "interval"),
            "a duration like \"10s\", from 1us to 36600d");
  EXPECT_THAT(*ListJson(Registry::BuiltIn(), "fixed_window"),
              HasSubstr("only with align `epoch`"));
  EXPECT_THAT(*ListText(Registry::BuiltIn(), "ar1"),
              HasSubstr("or 0 to deny all"));
}

// Each algorithm alone, its example included.
TEST(List, ShowsHowEachIsWritten) {
  std::ifstream file(std::string(WEIR_SOURCE_DIR) +
                     "/docs/examples/every_limit.cc");
  const std::string compiled((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::string> names = {"unlimited"};
  for (const EngineInfo* engine : Registry::BuiltIn().engines()) {
    EXPECT_FALSE(engine->doc.example.empty()) << std::string(engine->name);
    EXPECT_FALSE(engine->doc.source.empty()) << std::string(engine->name);
    names.emplace_back(engine->name);
  }
  for (const std::string& name : names) {
    const absl::StatusOr<std::string> text =
        ListText(Registry::BuiltIn(), name);
    ASSERT_TRUE(text.ok()) << text.status();
    for (const char* part : {"at most ", "state ", "choose it ", "source ",
                             "limits.json ", "--limit ", "C++ "}) {
      EXPECT_THAT(*text, HasSubstr(std::string("\n  ") + part)) << name;
    }
    EXPECT_THAT(*text, HasSubstr("\"algorithm\": \"" + name + "\""));
    // It compiles: a program of the docs holds it word for word.
    const size_t at = text->find("weir::Limit::");
    ASSERT_NE(at, std::string::npos);
    EXPECT_THAT(compiled,
                HasSubstr(text->substr(at, text->find('\n', at) - at)));
  }
}

TEST(List, DoesWithoutAnExampleOfAUsersEngine) {
  Registry registry = Registry::BuiltIn();
  EngineInfo mine = *registry.Find("gcra");
  mine.name = "mine";
  mine.doc.example = "";
  ASSERT_TRUE(registry.Add(mine).ok());
  const absl::StatusOr<std::string> text = ListText(registry, "mine");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, Not(HasSubstr("C++")));
}

}  // namespace
}  // namespace weir::cli
