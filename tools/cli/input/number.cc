#include "tools/cli/input/number.h"

#include "tools/cli/input/row.h"

namespace weir::cli {
namespace {

// Above this the digits to come no longer matter: it is too large, and stays
// so when it is multiplied by 10 or by 1,000,000.
constexpr uint64_t kStop = uint64_t{1} << 60;

// The digits at the front of *text, which are taken off it. Stops counting,
// but not reading, at kStop.
uint64_t TakeDigits(std::string_view* text, size_t* count) {
  uint64_t value = 0;
  size_t i = 0;
  for (; i < text->size(); ++i) {
    const unsigned digit = static_cast<unsigned char>((*text)[i]) - '0';
    if (digit > 9) break;
    if (value < kStop) value = value * 10 + digit;
  }
  text->remove_prefix(i);
  *count = i;
  return value;
}

bool TakeMinus(std::string_view* text) {
  if (text->empty() || text->front() != '-') return false;
  text->remove_prefix(1);
  return true;
}

NumberResult Finish(bool negative, uint64_t magnitude, int64_t* value) {
  if (magnitude > static_cast<uint64_t>(kMaxTraceNumber)) {
    return NumberResult::kRange;
  }
  const int64_t number = static_cast<int64_t>(magnitude);
  *value = negative ? -number : number;
  return NumberResult::kOk;
}

}  // namespace

NumberResult ParseCount(std::string_view text, int64_t* value) {
  size_t digits = 0;
  const uint64_t magnitude = TakeDigits(&text, &digits);
  if (digits == 0 || !text.empty()) return NumberResult::kSyntax;
  return Finish(false, magnitude, value);
}

NumberResult ParseInteger(std::string_view text, int64_t* value) {
  const bool negative = TakeMinus(&text);
  size_t digits = 0;
  const uint64_t magnitude = TakeDigits(&text, &digits);
  if (digits == 0 || !text.empty()) return NumberResult::kSyntax;
  return Finish(negative, magnitude, value);
}

NumberResult ParseSeconds(std::string_view text, int64_t* micros) {
  constexpr uint64_t kPowers[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
  const bool negative = TakeMinus(&text);
  size_t digits = 0;
  const uint64_t whole = TakeDigits(&text, &digits);
  if (digits == 0) return NumberResult::kSyntax;
  uint64_t fraction = 0;
  if (!text.empty()) {
    if (text.front() != '.') return NumberResult::kSyntax;
    text.remove_prefix(1);
    size_t decimals = 0;
    fraction = TakeDigits(&text, &decimals);
    if (decimals == 0 || decimals > 6 || !text.empty()) {
      return NumberResult::kSyntax;
    }
    fraction *= kPowers[decimals];
  }
  constexpr uint64_t kMaxWhole =
      static_cast<uint64_t>(kMaxTraceNumber) / 1000000;
  if (whole > kMaxWhole) return NumberResult::kRange;
  return Finish(negative, whole * 1000000 + fraction, micros);
}

}  // namespace weir::cli
