// A piece of the input in a message: quoted, plain ASCII, not too long.
#ifndef WEIR_TOOLS_CLI_INPUT_SHOWN_H_
#define WEIR_TOOLS_CLI_INPUT_SHOWN_H_

#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/text.h"

namespace weir::cli {

inline std::string Shown(std::string_view value) {
  constexpr size_t kMost = 40;
  if (value.size() <= kMost) {
    return absl::StrCat("\"", absl::CHexEscape(Sv(value)), "\"");
  }
  return absl::StrCat("\"", absl::CHexEscape(Sv(value.substr(0, kMost))),
                      "...\" (", value.size(), " bytes)");
}

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_SHOWN_H_
