#include "tools/cli/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

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

}  // namespace
}  // namespace weir::cli
