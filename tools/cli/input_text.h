// The first lines of a report: what was read.
#ifndef WEIR_TOOLS_CLI_INPUT_TEXT_H_
#define WEIR_TOOLS_CLI_INPUT_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/report.h"

namespace weir::cli {

// Appends "TITLE of FILE" and the counts. `ascii`: no character outside ASCII;
// `sorted`: the rows were put in time order before they were decided.
void WriteInputText(std::string_view title, const InputCounts& counts,
                    const std::vector<std::string>& files, bool ascii,
                    bool sorted, std::string* out);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_TEXT_H_
