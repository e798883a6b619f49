// The report of a replay, for a person at a terminal.
#ifndef WEIR_TOOLS_CLI_REPORT_TEXT_H_
#define WEIR_TOOLS_CLI_REPORT_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/cli/report.h"

namespace weir::cli {

struct TextOptions {
  // No character outside ASCII.
  bool ascii = false;
  // Denied keys listed for each rule.
  size_t top = 10;
  // The rows were put in time order before they were decided.
  bool sorted = false;
};

std::string ReportText(const Report& report,
                       const std::vector<std::string>& files,
                       const TextOptions& options);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_REPORT_TEXT_H_
