// `weir compare`: the same traffic through several limits, side by side.
#ifndef WEIR_TOOLS_CLI_COMPARE_COMMAND_H_
#define WEIR_TOOLS_CLI_COMPARE_COMMAND_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/cli/exit_code.h"
#include "tools/cli/run_setup.h"

namespace weir::cli {

struct CompareOptions {
  std::vector<std::string> limits;  // files, each one limiter
  std::vector<std::string> each;    // files, each of whose rules is one
  std::vector<std::string> typed;   // "gcra limit=10 window=60s"
  std::string key;                  // of `typed`; empty: {key}, or {client}
  InputOptions input;
  std::string differences;  // empty: not wanted
  bool json = false;
  bool ascii = false;
  size_t top = 10;
};

// Writes the comparison to standard output (to standard error if the
// differences go to standard output), and what went wrong to standard error.
ExitCode RunCompare(const CompareOptions& options);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_COMPARE_COMMAND_H_
