// A comparison for a person at a terminal, as JSON, and as lines of JSON.
#ifndef WEIR_TOOLS_CLI_COMPARISON_TEXT_H_
#define WEIR_TOOLS_CLI_COMPARISON_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tools/cli/comparison.h"
#include "tools/cli/input/row.h"
#include "tools/cli/report_text.h"
#include "tools/cli/trace_run.h"

namespace weir::cli {

// What a limit is called in a report: A, B, ... There are at most this many.
inline constexpr size_t kMaxCompared = 26;
inline std::string LimitLetter(size_t i) {
  return std::string(1, static_cast<char>('A' + i));
}

std::string ComparisonText(const Comparison& comparison,
                           const std::vector<std::string>& files,
                           const TextOptions& options);

// docs/compare.md lists the fields.
std::string ComparisonJson(const Comparison& comparison,
                           const std::vector<std::string>& files, size_t top,
                           bool sorted);

// Appends one line: a call that was decided differently. `file`: its name, or
// empty if there is only one.
void AppendDifference(const Comparison& comparison, const std::string& file,
                      const Row& row, absl::Span<const Answer> answers,
                      std::string* out);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_COMPARISON_TEXT_H_
