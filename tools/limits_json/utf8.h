// UTF-8, one character at a time, over bytes that need not be UTF-8.
#ifndef WEIR_TOOLS_LIMITS_JSON_UTF8_H_
#define WEIR_TOOLS_LIMITS_JSON_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::cli {

// The length of the well-formed character at s[pos], or 0 if there is none:
// a stray or missing continuation byte, an overlong form, a surrogate, or a
// value above U+10FFFF. Requires pos < s.size().
inline size_t Utf8Length(std::string_view s, size_t pos) {
  const auto byte = [&](size_t i) {
    return pos + i < s.size() ? static_cast<uint8_t>(s[pos + i]) : uint8_t{0};
  };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint8_t b0 = byte(0);
  const uint8_t b1 = byte(1);
  if (b0 < 0x80) return 1;
  if (b0 < 0xC2) return 0;
  if (b0 < 0xE0) return tail(1) ? 2 : 0;
  if (b0 < 0xF0) {
    if (b0 == 0xE0 && b1 < 0xA0) return 0;
    if (b0 == 0xED && b1 > 0x9F) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (b0 > 0xF4) return 0;
  if (b0 == 0xF0 && b1 < 0x90) return 0;
  if (b0 == 0xF4 && b1 > 0x8F) return 0;
  return tail(1) && tail(2) && tail(3) ? 4 : 0;
}

// The code point of the well-formed character of `length` bytes at s[pos].
inline uint32_t Utf8CodePoint(std::string_view s, size_t pos, size_t length) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(s[pos + i]); };
  if (length == 1) return byte(0);
  uint32_t value = byte(0) & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) value = value << 6 | (byte(i) & 0x3Fu);
  return value;
}

}  // namespace weir::cli

#endif  // WEIR_TOOLS_LIMITS_JSON_UTF8_H_
