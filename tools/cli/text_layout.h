// Columns of text for a terminal.
#ifndef WEIR_TOOLS_CLI_TEXT_LAYOUT_H_
#define WEIR_TOOLS_CLI_TEXT_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/text.h"
#include "tools/cli/human.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {

inline std::string Repeat(std::string_view text, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out.append(text);
  return out;
}

inline std::string PadLeft(const std::string& text, size_t width) {
  const size_t have = DisplayWidth(text);
  return have >= width ? text : std::string(width - have, ' ') + text;
}

inline std::string PadRight(const std::string& text, size_t width) {
  const size_t have = DisplayWidth(text);
  return have >= width ? text : text + std::string(width - have, ' ');
}

inline std::string Count(uint64_t n, std::string_view one,
                         std::string_view many) {
  return absl::StrCat(Thousands(n), " ", Sv(n == 1 ? one : many));
}

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_TEXT_LAYOUT_H_
