#include "tests/kit/naive_parts.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tests/kit/txn_words.h"

namespace weir {
namespace testing {
namespace {

__extension__ typedef __int128 Int128;  // -Wpedantic does not know it.

// A whole number of 64 bits that is written in the usual way.
std::optional<int64_t> Whole(const std::string& text) {
  const Int128 limit = static_cast<Int128>(1) << 63;
  const bool negative = !text.empty() && text[0] == '-';
  const std::string digits = negative ? text.substr(1) : text;
  if (digits.empty() || digits.size() > 19) return std::nullopt;
  if (digits[0] == '0' && text != "0") return std::nullopt;
  Int128 value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (negative) value = -value;
  if (value < -limit || value >= limit) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::string RealText(long double value) {
  std::vector<char> buffer(6000);
  std::snprintf(buffer.data(), buffer.size(), "%.17Lf", value);
  std::string text = buffer.data();
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace

std::optional<long double> Real(const std::string& text) {
  if (text.empty() || text.find_first_of(" \t\n\v\f\r") == 0) {
    return std::nullopt;
  }
  char* end = nullptr;
  errno = 0;
  const long double value = std::strtold(text.c_str(), &end);
  const bool lost = errno == ERANGE && (std::isinf(value) || value == 0);
  if (end != text.c_str() + text.size() || std::isnan(value) || lost) {
    return std::nullopt;
  }
  return value;
}

std::string AddWhole(const std::string& before, int64_t n, const char* bad,
                     std::string* after) {
  const std::optional<int64_t> number = Whole(before);
  if (!number) return bad;
  const Int128 sum = static_cast<Int128>(*number) + n;
  if (sum != static_cast<int64_t>(sum)) {
    return "-ERR increment or decrement would overflow";
  }
  *after = std::to_string(static_cast<int64_t>(sum));
  return IntegerReply(static_cast<int64_t>(sum));
}

std::string AddReal(const std::string& before, const std::string& n,
                    const char* bad, std::string* after) {
  const std::optional<long double> number = Real(before);
  if (!number) return bad;
  const long double sum = *number + *Real(n);
  if (std::isnan(sum) || std::isinf(sum)) {
    return "-ERR increment would produce NaN or Infinity";
  }
  *after = RealText(sum);
  return BytesReply(std::string_view(*after));
}

bool InRange(int64_t i, int64_t size, int64_t start, int64_t stop) {
  const bool after = start >= 0 ? i >= start : i - size >= start;
  const bool before = stop >= 0 ? i <= stop : i - size <= stop;
  return after && before;
}

bool IsOneOf(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace testing
}  // namespace weir
