#include "backends/memory/decimal.h"

#include <cctype>
#include <cerrno>
#include <clocale>  // with POSIX's newlocale and uselocale
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace weir {
namespace {

// The longest text that is read as a real number, and that one is written as.
constexpr size_t kLongestReal = 5 * 1024;

// A number is the same whatever language the program speaks.
class PlainLocale {
 public:
  PlainLocale() : before_(uselocale(Plain())) {}
  ~PlainLocale() { uselocale(before_); }
  PlainLocale(const PlainLocale&) = delete;
  PlainLocale& operator=(const PlainLocale&) = delete;

 private:
  static locale_t Plain() {
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    return plain;
  }

  const locale_t before_;
};

}  // namespace

std::optional<long double> ParseReal(std::string_view text) {
  if (text.empty() || text.size() >= kLongestReal) return std::nullopt;
  if (std::isspace(static_cast<unsigned char>(text[0])) != 0) {
    return std::nullopt;
  }
  const std::string copy(text);
  const PlainLocale plain;
  char* end = nullptr;
  errno = 0;
  const long double value = std::strtold(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || std::isnan(value)) {
    return std::nullopt;
  }
  // Too large, or too small to be told from 0.
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return std::nullopt;
  return value;
}

std::optional<long double> ParseReal(double value) {
  char text[32];
  const PlainLocale plain;
  const int n = std::snprintf(text, sizeof(text), "%.17g", value);
  return ParseReal(std::string_view(text, static_cast<size_t>(n)));
}

std::string FormatReal(long double value) {
  char text[kLongestReal];
  const PlainLocale plain;
  int n = std::snprintf(text, sizeof(text), "%.17Lf", value);
  while (text[n - 1] == '0') --n;
  if (text[n - 1] == '.') --n;
  std::string out(text, static_cast<size_t>(n));
  return out == "-0" ? "0" : out;
}

}  // namespace weir
