#include "tools/cli/bound_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::cli {
namespace {

using ::testing::HasSubstr;

const Columns& AllColumns() {
  static const auto* const columns =
      new Columns({"time", "host", "client", "odd {name}"});
  return *columns;
}

std::string Render(std::string_view text) {
  const absl::StatusOr<KeyTemplate> key = KeyTemplate::Parse(text);
  if (!key.ok()) return std::string(key.status().message());
  const absl::StatusOr<BoundTemplate> bound =
      BoundTemplate::Bind(*key, AllColumns());
  if (!bound.ok()) return std::string(bound.status().message());
  const std::string_view fields[] = {"12", "h", std::string_view("c\0d", 3),
                                     "odd"};
  std::string buffer = "left over";
  return std::string(bound->Render(fields, &buffer));
}

TEST(KeyTemplate, PutsColumnsIn) {
  EXPECT_EQ(Render("{host}"), "h");
  EXPECT_EQ(Render("{client}"), std::string("c\0d", 3));
  EXPECT_EQ(Render("{host}/{client}"), std::string("h/c\0d", 5));
  EXPECT_EQ(Render("{host}{host}"), "hh");
  EXPECT_EQ(Render("all"), "all");
  EXPECT_EQ(Render(""), "");
}

TEST(KeyTemplate, TakesDoubledBracesAsBraces) {
  EXPECT_EQ(Render("{{host}}"), "{host}");
  EXPECT_EQ(Render("{{{host}}}"), "{h}");
  EXPECT_EQ(Render("a}}b{{"), "a}b{");
}

TEST(KeyTemplate, RefusesLonelyBraces) {
  EXPECT_THAT(Render("{host"), HasSubstr("not closed"));
  EXPECT_THAT(Render("{"), HasSubstr("not closed"));
  EXPECT_THAT(Render("{a{b}"), HasSubstr("not closed"));
  EXPECT_THAT(Render("host}"), HasSubstr("closes nothing"));
  EXPECT_THAT(Render("{host}}"), HasSubstr("closes nothing"));
  EXPECT_THAT(Render("{}"), HasSubstr("without a column"));
}

TEST(KeyTemplate, NamesTheColumnsThereAre) {
  EXPECT_EQ(
      Render("{user}"),
      "no column {user}; the columns are: time, host, client, odd {name}");
}

TEST(KeyTemplate, IsEqualWhereTheKeysAre) {
  const KeyTemplate a = *KeyTemplate::Parse("{host}/x");
  EXPECT_EQ(a, *KeyTemplate::Parse("{host}/x"));
  EXPECT_NE(a, *KeyTemplate::Parse("{client}/x"));
  EXPECT_NE(*KeyTemplate::Parse("{{host}}"), *KeyTemplate::Parse("{host}"));
  EXPECT_TRUE(a.HasColumn("host"));
  EXPECT_FALSE(a.HasColumn("/x"));
}

}  // namespace
}  // namespace weir::cli
