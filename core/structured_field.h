// Structured field values (RFC 9651, section 4.1), as far as weir writes them.
// Everything is appended to a string; nothing fails, because what could was
// asked about before.
#ifndef WEIR_CORE_STRUCTURED_FIELD_H_
#define WEIR_CORE_STRUCTURED_FIELD_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/text.h"

namespace weir::structured_field {

inline constexpr int64_t kMaxInteger = 999'999'999'999'999;

// Where the first byte stands that a String can't hold; npos: there is none.
inline size_t FindUnstringable(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] < 0x20 || text[i] > 0x7E) return i;
  }
  return std::string_view::npos;
}

// Counts beyond 15 digits are told as the largest that has 15.
inline void AppendInteger(int64_t value, std::string* out) {
  absl::StrAppend(out, std::clamp(value, -kMaxInteger, kMaxInteger));
}

// `text` is printable ASCII.
inline void AppendString(std::string_view text, std::string* out) {
  *out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') *out += '\\';
    *out += c;
  }
  *out += '"';
}

inline void AppendByteSequence(std::string_view bytes, std::string* out) {
  absl::StrAppend(out, ":", absl::Base64Escape(Sv(bytes)), ":");
}

}  // namespace weir::structured_field

#endif  // WEIR_CORE_STRUCTURED_FIELD_H_
