// Writing a text to a stream, with what may go wrong.
#ifndef WEIR_TOOLS_CLI_WRITE_TEXT_H_
#define WEIR_TOOLS_CLI_WRITE_TEXT_H_

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "absl/status/status.h"
#include "tools/limits_json/errno_status.h"

namespace weir::cli {

// Writes and flushes. `what`: what was to be written, for the message.
inline absl::Status WriteText(std::string_view text, std::string_view what,
                              std::FILE* out) {
  if (std::fwrite(text.data(), 1, text.size(), out) == text.size() &&
      std::fflush(out) == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, absl::StrCat(Sv(what), " cannot be written"));
}

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_WRITE_TEXT_H_
