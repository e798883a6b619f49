#include "tools/limits_json/duration.h"

#include <cstdint>

#include "core/duration_text.h"
#include "core/text.h"

namespace weir::cli {
namespace {

constexpr std::string_view kUnitNames = "us, ms, s, m, h, d";

// No fraction with more digits than these (trailing zeros aside) is a whole
// number of microseconds: a day is 2^13 * 3^3 * 5^8 us.
constexpr size_t kMaxFractionDigits = 13;
// More than kMaxExact in any unit.
constexpr size_t kMaxWholeDigits = 17;

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view TakeDigits(std::string_view* text) {
  size_t n = 0;
  while (n < text->size() && IsDigit((*text)[n])) ++n;
  const std::string_view digits = text->substr(0, n);
  text->remove_prefix(n);
  return digits;
}

int64_t Value(std::string_view digits) {
  int64_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

const DurationUnit* FindUnit(std::string_view name) {
  for (const DurationUnit& unit : kDurationUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

absl::Status TooLong() {
  return absl::OutOfRangeError("is more than 2^53 - 1 us");
}

absl::Status NotWhole() {
  return absl::OutOfRangeError("is not a whole number of microseconds");
}

}  // namespace

absl::StatusOr<Micros> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (negative) rest.remove_prefix(1);
  std::string_view whole = TakeDigits(&rest);
  std::string_view fraction;
  bool number = !whole.empty();
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    fraction = TakeDigits(&rest);
    number = number && !fraction.empty();
  }
  if (!number) {
    return InvalidArgument("is no number and a unit (", Sv(kUnitNames), ")");
  }
  const DurationUnit* unit = FindUnit(rest);
  if (unit == nullptr) {
    return InvalidArgument(rest.empty() ? "has no unit" : "has no known unit",
                           " right after the number (", Sv(kUnitNames), ")");
  }
  while (!whole.empty() && whole[0] == '0') whole.remove_prefix(1);
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  if (whole.size() > kMaxWholeDigits) return TooLong();
  if (fraction.size() > kMaxFractionDigits) return NotWhole();
  __extension__ using Wide = __int128;
  Wide scale = 1;
  for (size_t i = 0; i < fraction.size(); ++i) scale *= 10;
  const Wide part = Wide{Value(fraction)} * unit->us;
  if (part % scale != 0) return NotWhole();
  const Wide us = Wide{Value(whole)} * unit->us + part / scale;
  if (us > kMaxExact) return TooLong();
  const auto exact = static_cast<int64_t>(us);
  return Micros(negative ? -exact : exact);
}

std::string FormatDuration(Micros duration) {
  return DurationText(duration.count());
}

}  // namespace weir::cli
