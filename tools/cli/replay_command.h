// `weir replay`: what would these limits have done to this traffic?
#ifndef WEIR_TOOLS_CLI_REPLAY_COMMAND_H_
#define WEIR_TOOLS_CLI_REPLAY_COMMAND_H_

#include <cstddef>
#include <string>

#include "tools/cli/exit_code.h"
#include "tools/cli/run_setup.h"

namespace weir::cli {

struct ReplayOptions {
  std::string limits;
  InputOptions input;
  std::string store;       // a Redis URL; empty: the embedded store
  std::string name_space;  // on Redis; empty: a fresh one
  std::string decisions;   // empty: not wanted
  bool json = false;
  bool ascii = false;
  size_t top = 10;
};

// Writes the report to standard output (to standard error if the decisions go
// to standard output), and what went wrong to standard error.
ExitCode RunReplay(const ReplayOptions& options);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_REPLAY_COMMAND_H_
