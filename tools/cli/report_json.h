// The report of a replay as JSON. docs/replay.md lists the fields.
#ifndef WEIR_TOOLS_CLI_REPORT_JSON_H_
#define WEIR_TOOLS_CLI_REPORT_JSON_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/cli/json_writer.h"
#include "tools/cli/report.h"

namespace weir::cli {

// `top`: denied keys listed for each rule. `sorted`: the rows were put in time
// order before they were decided.
std::string ReportJson(const Report& report,
                       const std::vector<std::string>& files, size_t top,
                       bool sorted);

// Its parts, for other reports: the member "input"; the members "overall" and
// "rules" of an object that is open.
void WriteInputJson(const InputCounts& in,
                    const std::vector<std::string>& files, bool sorted,
                    JsonWriter* w);
void WriteReportJson(const Report& report, size_t top, JsonWriter* w);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_REPORT_JSON_H_
