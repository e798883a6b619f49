// How the program ends.
#ifndef WEIR_TOOLS_CLI_EXIT_CODE_H_
#define WEIR_TOOLS_CLI_EXIT_CODE_H_

#include "absl/status/status.h"

namespace weir::cli {

enum ExitCode : int {
  kOk = 0,
  // Something could not be read or written, or memory ran out.
  kFailed = 1,
  // Wrong usage, or a configuration or an input that makes no sense.
  kUsage = 2,
  // `--strict` met a malformed line.
  kMalformed = 3,
};

inline constexpr char kExitCodesHelp[] =
    "Exit codes:\n"
    "  0  done (also if lines were malformed and skipped)\n"
    "  1  something could not be read or written, or memory ran out\n"
    "  2  wrong usage, a wrong limits file, or an input that is no trace\n"
    "  3  --strict: stopped at a malformed line\n";

inline ExitCode ExitCodeFor(const absl::Status& status) {
  if (status.ok()) return kOk;
  if (absl::IsInvalidArgument(status)) return kUsage;
  if (absl::IsFailedPrecondition(status)) return kMalformed;
  return kFailed;
}

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_EXIT_CODE_H_
