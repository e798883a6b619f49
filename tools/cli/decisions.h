// The decisions of a replay as JSON lines: one for each row that is a call or
// an operation, in the order in which they were decided. docs/replay.md shows
// the shape.
#ifndef WEIR_TOOLS_CLI_DECISIONS_H_
#define WEIR_TOOLS_CLI_DECISIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "tools/cli/input/row.h"
#include "weir/decision.h"
#include "weir/limiter.h"

namespace weir::cli {

// The name of an operation, as in the column `op`.
std::string_view OpName(Op op);

class DecisionFormat {
 public:
  // `files`: the names of the inputs; with more than one, a line says which it
  // is of.
  DecisionFormat(absl::Span<const Rule> rules,
                 const std::vector<std::string>& files);

  // Appends one line. `keys`: one for each rule.
  void Append(const Row& row, absl::Span<const std::string_view> keys,
              const Decision& decision, std::string* out) const;

 private:
  std::vector<std::string> names_;  // of the rules, as JSON strings
  std::vector<std::string> files_;  // `"file": "x", `; empty with one input
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_DECISIONS_H_
