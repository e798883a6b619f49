// Text for messages. Abseil may have been built with a string_view of its own.
#ifndef WEIR_CORE_TEXT_H_
#define WEIR_CORE_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace weir {

inline absl::string_view Sv(std::string_view s) { return {s.data(), s.size()}; }

template <class... Parts>
absl::Status InvalidArgument(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

}  // namespace weir

#endif  // WEIR_CORE_TEXT_H_
