// `weir replay`: what would these limits have done to this traffic?
#ifndef WEIR_TOOLS_CLI_REPLAY_COMMAND_H_
#define WEIR_TOOLS_CLI_REPLAY_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/exit_code.h"

namespace weir::cli {

struct ReplayOptions {
  std::string limits;
  std::vector<std::string> files;
  std::string decisions;  // empty: not wanted
  bool strict = false;
  bool sort = false;
  size_t sort_memory_mib = 256;
  bool json = false;
  bool ascii = false;
  size_t top = 10;
};

// Writes the report to standard output (to standard error if the decisions go
// to standard output), and what went wrong to standard error.
ExitCode RunReplay(const ReplayOptions& options);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_REPLAY_COMMAND_H_
