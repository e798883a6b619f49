// UTF-8, over bytes that need not be UTF-8.
#ifndef WEIR_CORE_UTF8_H_
#define WEIR_CORE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir {

// How many bytes the well-formed character at the start of `text` has (the
// table of RFC 3629); 0: there is none, as of a lone continuation byte, an
// overlong form, a surrogate, or a value above U+10FFFF. `text` is not empty.
inline size_t Utf8Length(std::string_view text) {
  const auto at = [text](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  size_t length = 0;
  // The second byte's bounds keep out overlong forms, surrogates and what lies
  // beyond U+10FFFF.
  uint8_t low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (at(1) < low || at(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (at(i) < 0x80 || at(i) > 0xBF) return 0;
  }
  return length;
}

}  // namespace weir

#endif  // WEIR_CORE_UTF8_H_
