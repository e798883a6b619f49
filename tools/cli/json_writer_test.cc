#include "tools/cli/json_writer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace weir::cli {
namespace {

std::string Quoted(std::string_view bytes) {
  std::string out;
  AppendJsonBytes(bytes, &out);
  return out;
}

TEST(JsonString, KeepsUtf8AsItIs) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("plain"), "\"plain\"");
  EXPECT_EQ(Quoted("caf\xc3\xa9"), "\"caf\xc3\xa9\"");
  EXPECT_EQ(Quoted("\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\"\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

TEST(JsonString, EscapesWhatJsonWants) {
  EXPECT_EQ(Quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Quoted("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(Quoted(std::string_view("\0\x01\x1f", 3)),
            R"("\u0000\u0001\u001f")");
}

TEST(JsonString, WritesOtherBytesAsLoneSurrogates) {
  EXPECT_EQ(Quoted("\x80\xff"), R"("\udc80\udcff")");
  // Cut short; overlong; a surrogate; above U+10FFFF; a stray tail.
  EXPECT_EQ(Quoted("\xe2\x82"), R"("\udce2\udc82")");
  EXPECT_EQ(Quoted("\xe2\x82x"), R"("\udce2\udc82x")");
  EXPECT_EQ(Quoted("\xc0\x80"), R"("\udcc0\udc80")");
  EXPECT_EQ(Quoted("\xe0\x9f\xbf"), R"("\udce0\udc9f\udcbf")");
  EXPECT_EQ(Quoted("\xf0\x8f\xbf\xbf"), R"("\udcf0\udc8f\udcbf\udcbf")");
  EXPECT_EQ(Quoted("\xed\xa0\x80"), R"("\udced\udca0\udc80")");
  EXPECT_EQ(Quoted("\xf4\x90\x80\x80"), R"("\udcf4\udc90\udc80\udc80")");
  EXPECT_EQ(Quoted("\xf5"), R"("\udcf5")");
  EXPECT_EQ(Quoted("a\xbf"), R"("a\udcbf")");
}

TEST(JsonString, TakesTheLastCharactersOfEachLength) {
  for (const char* text : {"\x7f", "\xdf\xbf", "\xef\xbf\xbf",
                           "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
    EXPECT_EQ(Quoted(text), std::string("\"") + text + "\"");
  }
}

TEST(AppendReal, ReadsBackAsTheSame) {
  const auto text = [](double value) {
    std::string out;
    AppendReal(value, &out);
    EXPECT_EQ(std::strtod(out.c_str(), nullptr), value);
    return out;
  };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(100), "100");
  EXPECT_EQ(text(1e6), "1000000");
  EXPECT_EQ(text(-7.5), "-7.5");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(text(0.0000004), "0.0000004");
  EXPECT_EQ(text(1.5000004), "1.5000004");
  EXPECT_EQ(text(4e-8), "4e-08");
  EXPECT_EQ(text(1.25e21), "1.25e+21");
  EXPECT_EQ(text(123456789012345678.0), "123456789012345680");
  // The most digits.
  EXPECT_EQ(text(-1.2345678901234566e-7), "-0.00000012345678901234566");
  EXPECT_EQ(text(-1.7976931348623157e308), "-1.7976931348623157e+308");
  EXPECT_EQ(text(5e-324), "5e-324");
}

TEST(JsonWriter, WritesAnIndentedDocument) {
  std::string out;
  JsonWriter w(&out);
  w.BeginObject();
  w.Key("int").Int(std::numeric_limits<int64_t>::min());
  w.Key("none").Int(std::optional<int64_t>());
  w.Key("list").BeginArray().Bool(true).Null().EndArray();
  w.Key("empty").BeginObject().EndObject();
  w.Key("real").Real(0.25);
  w.Key("whole").Real(2);
  w.Key("share").Real(1.0 / 3);
  w.Key("exact").Exact(1.0 / 3);
  w.Key("exact_whole").Exact(2);
  w.Key("exact_small").Exact(1e-9);
  w.EndObject();
  EXPECT_EQ(out, R"({
  "int": -9223372036854775808,
  "none": null,
  "list": [
    true,
    null
  ],
  "empty": {},
  "real": 0.25,
  "whole": 2.0,
  "share": 0.333333,
  "exact": 0.3333333333333333,
  "exact_whole": 2.0,
  "exact_small": 1e-09
}
)");
}

}  // namespace
}  // namespace weir::cli
