// Text for messages. Abseil may have been built with a string_view of its own.
#ifndef WEIR_CORE_TEXT_H_
#define WEIR_CORE_TEXT_H_

#include <charconv>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace weir {

inline absl::string_view Sv(std::string_view s) { return {s.data(), s.size()}; }

// A number as it was written: in as few digits as tell it from all others.
inline std::string RealText(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  return std::string(digits, end);
}

inline std::string MessagePart(double value) { return RealText(value); }
template <class T>
const T& MessagePart(const T& part) {
  return part;
}

template <class... Parts>
absl::Status InvalidArgument(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(MessagePart(parts)...));
}

}  // namespace weir

#endif  // WEIR_CORE_TEXT_H_
