// What the operating system said, as a Status.
#ifndef WEIR_TOOLS_LIMITS_JSON_ERRNO_STATUS_H_
#define WEIR_TOOLS_LIMITS_JSON_ERRNO_STATUS_H_

#include <cerrno>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "core/text.h"

namespace weir::cli {

// "WHAT: No such file or directory". NotFound and PermissionDenied as such,
// everything else Unavailable.
inline absl::Status ErrnoStatus(int error, std::string_view what) {
  const std::string why = std::generic_category().message(error);
  const std::string text = absl::StrCat(Sv(what), ": ", why);
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(text);
  }
  return absl::UnavailableError(text);
}

}  // namespace weir::cli

#endif  // WEIR_TOOLS_LIMITS_JSON_ERRNO_STATUS_H_
