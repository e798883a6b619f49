// Numbers as Redis writes and reads them in values.
#ifndef WEIR_BACKENDS_MEMORY_DECIMAL_H_
#define WEIR_BACKENDS_MEMORY_DECIMAL_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

// A whole number in the one form that writing it gives: no sign but a minus, no
// leading zero, no space.
inline std::optional<int64_t> ParseInteger(std::string_view text) {
  const size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
  if (text.size() > sign && text[sign] == '0' && text.size() > 1) {
    return std::nullopt;
  }
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result r = std::from_chars(text.data(), end, value);
  if (r.ec != std::errc() || r.ptr != end) return std::nullopt;
  return value;
}

// A whole number as text, without the heap.
class IntegerText {
 public:
  explicit IntegerText(int64_t value)
      : end_(std::to_chars(text_, text_ + sizeof(text_), value).ptr) {}
  std::string_view view() const {
    return {text_, static_cast<size_t>(end_ - text_)};
  }

 private:
  char text_[20];
  char* end_;
};

// What INCRBYFLOAT and HINCRBYFLOAT count in: the platform's long double, which
// is the server's too. Whatever strtold reads, without a space before it.
std::optional<long double> ParseReal(std::string_view text);
// As the value of a number in a script reaches a server: with 17 digits.
std::optional<long double> ParseReal(double value);
// 17 digits behind the point, without the zeros at the end.
std::string FormatReal(long double value);

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_DECIMAL_H_
