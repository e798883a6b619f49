#include "tools/cli/input/number.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/cli/input/row.h"

namespace weir::cli {
namespace {

// "a\0b"s: with its NUL bytes.
using namespace std::string_literals;  // NOLINT

struct Case {
  const char* text;
  NumberResult result;
  int64_t value;
};

constexpr NumberResult kOk = NumberResult::kOk;
constexpr NumberResult kSyntax = NumberResult::kSyntax;
constexpr NumberResult kRange = NumberResult::kRange;

template <class Parse>
void Expect(Parse parse, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    int64_t value = 0;
    EXPECT_EQ(parse(c.text, &value), c.result);
    if (c.result == kOk) {
      EXPECT_EQ(value, c.value);
    }
  }
}

TEST(NumberTest, CountIsDigitsOnly) {
  Expect(ParseCount, {{"0", kOk, 0},
                      {"17", kOk, 17},
                      {"007", kOk, 7},
                      {"9007199254740991", kOk, kMaxTraceNumber},
                      {"9007199254740992", kRange, 0},
                      {"18446744073709551617", kRange, 0},
                      {"99999999999999999999999999", kRange, 0},
                      {"", kSyntax, 0},
                      {"-1", kSyntax, 0},
                      {"+1", kSyntax, 0},
                      {"1.0", kSyntax, 0},
                      {"1e3", kSyntax, 0},
                      {" 1", kSyntax, 0},
                      {"1 ", kSyntax, 0},
                      {"0x10", kSyntax, 0}});
}

TEST(NumberTest, IntegerMayBeNegative) {
  Expect(ParseInteger, {{"0", kOk, 0},
                        {"-0", kOk, 0},
                        {"-1", kOk, -1},
                        {"1700000000000000", kOk, 1700000000000000},
                        {"9007199254740991", kOk, kMaxTraceNumber},
                        {"-9007199254740991", kOk, -kMaxTraceNumber},
                        {"9007199254740992", kRange, 0},
                        {"-9007199254740992", kRange, 0},
                        {"-", kSyntax, 0},
                        {"--1", kSyntax, 0},
                        {"1700000000.5", kSyntax, 0}});
}

TEST(NumberTest, SecondsKeepEveryMicrosecond) {
  Expect(ParseSeconds, {{"1700000000", kOk, 1700000000000000},
                        {"1700000000.1", kOk, 1700000000100000},
                        {"1700000000.000001", kOk, 1700000000000001},
                        {"1700000000.999999", kOk, 1700000000999999},
                        // Beyond what a double tells apart.
                        {"9007199254.740991", kOk, kMaxTraceNumber},
                        {"9007199254.740992", kRange, 0},
                        {"9007199255", kRange, 0},
                        {"99999999999999999999", kRange, 0},
                        {"-9007199254.740991", kOk, -kMaxTraceNumber},
                        {"0.5", kOk, 500000},
                        {"-0.5", kOk, -500000},
                        {"-0.000001", kOk, -1},
                        {"0", kOk, 0},
                        {"1.0000000", kSyntax, 0},
                        {".5", kSyntax, 0},
                        {"5.", kSyntax, 0},
                        {"-", kSyntax, 0},
                        {"", kSyntax, 0},
                        {"1,5", kSyntax, 0},
                        {"1e9", kSyntax, 0},
                        {"1.5.5", kSyntax, 0},
                        {"nan", kSyntax, 0}});
}

TEST(NumberTest, NulByteIsNoDigit) {
  int64_t value = 0;
  EXPECT_EQ(ParseInteger("1\0002"s, &value), kSyntax);
}

}  // namespace
}  // namespace weir::cli
