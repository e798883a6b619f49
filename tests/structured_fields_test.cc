// The parser that judges header fields, judged itself.
#include "tests/structured_fields.h"

#include <gtest/gtest.h>

#include <string>

namespace structured {
namespace {

using namespace std::string_literals;

TEST(StructuredFields, ReadsEveryKindOfBareItem) {
  const auto value = [](std::string_view field) {
    return ParseItem(field).value().value;
  };
  EXPECT_EQ(value("0"), BareItem(int64_t{0}));
  EXPECT_EQ(value("-42"), BareItem(int64_t{-42}));
  EXPECT_EQ(value("999999999999999"), BareItem(int64_t{999999999999999}));
  EXPECT_EQ(value("4.5"), BareItem(4.5));
  EXPECT_EQ(value("123456789012.125"), BareItem(123456789012.125));
  EXPECT_EQ(value("\"\""), BareItem(""s));
  EXPECT_EQ(value("\"a \\\"b\\\\ ~\""), BareItem("a \"b\\ ~"s));
  EXPECT_EQ(value("*a/b:c"), BareItem(Token{"*a/b:c"}));
  EXPECT_EQ(value("::"), BareItem(Bytes{""}));
  EXPECT_EQ(value(":AP8=:"), BareItem(Bytes{"\0\xFF"s}));
  EXPECT_EQ(value(":QXBwLTk5OQ==:"), BareItem(Bytes{"App-999"}));
  EXPECT_EQ(value(":aGVsbG8h:"), BareItem(Bytes{"hello!"}));
  EXPECT_EQ(value("?1"), BareItem(true));
  EXPECT_EQ(value("@1659578233"), BareItem(Date{1659578233}));
}

TEST(StructuredFields, RefusesMalformedItems) {
  for (std::string_view field : {"",         "1000000000000000",
                                 "--1",      "1.",
                                 "1.2345",   "-",
                                 "a b",      "\"a",
                                 "\"\\a\"",  "\"\x7F\"",
                                 "\"\xC3\"", "\"\t\"",
                                 ":AP8",     ":AP8:",
                                 ":A*8=:",   "?2",
                                 "@1.5",     "1;A=1",
                                 "1;",       "1;a=",
                                 "1 ;a",     "(1 2)",
                                 "%\"a\"",   "1234567890123.1",
                                 "\"a\\",    "1,2",
                                 "=",        "\"a\"b"}) {
    EXPECT_FALSE(ParseItem(field)) << field;
  }
}

TEST(StructuredFields, ReadsListsWithParameters) {
  const auto list = ParseList(" \"a\";q=1;w=2 ,\t\"b\"; q=3;q=4;x, c ");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ((*list)[0].value, BareItem("a"s));
  EXPECT_EQ(*(*list)[0].Find("w"), BareItem(int64_t{2}));
  EXPECT_EQ(*(*list)[1].Find("q"), BareItem(int64_t{4}));
  EXPECT_EQ(*(*list)[1].Find("x"), BareItem(true));
  EXPECT_EQ((*list)[1].Find("w"), nullptr);
  EXPECT_EQ((*list)[2].value, BareItem(Token{"c"}));
  EXPECT_TRUE(ParseList("")->empty());
}

TEST(StructuredFields, RefusesMalformedLists) {
  for (std::string_view field :
       {"1,", "1,,2", ",1", "1 2", "1;q=1 w=2", "1;q =1", "1;q= 1", "a=1,",
        "1, ", "\"a\";q=1;;w=2", "1\n", "1;Q=1"}) {
    EXPECT_FALSE(ParseList(field)) << field;
  }
}

TEST(StructuredFields, ReadsDictionaries) {
  const auto d = ParseDictionary("limit=100, remaining=50;x=1,reset, limit=7");
  ASSERT_TRUE(d);
  ASSERT_EQ(d->size(), 3u);
  EXPECT_EQ((*d)[0].first, "limit");
  EXPECT_EQ((*d)[0].second.value, BareItem(int64_t{7}));
  EXPECT_EQ(*(*d)[1].second.Find("x"), BareItem(int64_t{1}));
  EXPECT_EQ((*d)[2].second.value, BareItem(true));
  for (std::string_view field :
       {"Limit=1", "a=1,", "a=", "a==1", "1=a", "a b"}) {
    EXPECT_FALSE(ParseDictionary(field)) << field;
  }
}

// The examples of the draft.
TEST(StructuredFields, ReadsTheFieldsOfTheDraft) {
  EXPECT_TRUE(ParseList("\"burst\";q=100;w=60,\"daily\";q=1000;w=86400"));
  EXPECT_TRUE(ParseList(
      "\"peruser\";q=65535;qu=\"content-bytes\";w=10;pk=:sdfjLJUOUH==:"));
  EXPECT_TRUE(ParseList("\"default\";r=300000000;t=60;pk=:QXBwLTk5OQ==:"));
}

}  // namespace
}  // namespace structured
