#include "tools/limits_json/printable.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(Printable("10.0.0.1", 40), "10.0.0.1");
  EXPECT_EQ(Printable("caf\xc3\xa9", 40), "caf\xc3\xa9");
  EXPECT_EQ(Printable("", 40), "");
}

TEST(Printable, SpellsOutWhatMovesATerminal) {
  EXPECT_EQ(Printable("\x1b[31mred\x1b[0m", 40), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(Printable(std::string_view("a\0b\r\n", 5), 40),
            "a\\x00b\\x0d\\x0a");
  EXPECT_EQ(Printable("\x7f", 40), "\\x7f");
  // A C1 control, an override of the direction, a byte order mark.
  EXPECT_EQ(Printable("\xc2\x9b", 40), "\\u{9b}");
  EXPECT_EQ(Printable("\xe2\x80\xae", 40), "\\u{202e}");
  EXPECT_EQ(Printable("\xef\xbb\xbf", 40), "\\u{feff}");
}

TEST(Printable, SpellsOutBytesThatAreNotUtf8) {
  EXPECT_EQ(Printable("a\xff\xc3", 40), "a\\xff\\xc3");
}

TEST(Printable, HasAnAsciiForm) {
  EXPECT_EQ(Printable("caf\xc3\xa9", 40, /*ascii=*/true), "caf\\u{e9}");
}

TEST(Printable, CutsLongTextInTheMiddle) {
  const std::string text =
      std::string(30, 'a') + std::string(9000, 'b') + "end";
  const std::string cut = Printable(text, 30);
  EXPECT_EQ(cut, std::string(17, 'a') + "..." + "bbbbbbbend");
  EXPECT_EQ(Printable(std::string(30, 'a'), 30), std::string(30, 'a'));
}

TEST(Printable, NeverTakesMoreRoomThanItWasGiven) {
  std::string bytes;
  for (int i = 0; i < 3000; ++i) bytes.push_back(static_cast<char>(i * 7));
  for (size_t from = 0; from < 300; ++from) {
    for (const bool ascii : {false, true}) {
      const std::string text =
          Printable(std::string_view(bytes).substr(from), 40, ascii);
      EXPECT_LE(DisplayWidth(text), 40u) << text;
      for (const char c : text) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
    }
  }
}

}  // namespace
}  // namespace weir::cli
