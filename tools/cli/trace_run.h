// The loop that `weir replay` and `weir compare` share: rows in, and each row
// decided by one limiter or several.
#ifndef WEIR_TOOLS_CLI_TRACE_RUN_H_
#define WEIR_TOOLS_CLI_TRACE_RUN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tools/cli/input/row.h"
#include "tools/cli/report.h"
#include "tools/cli/rule_keys.h"
#include "tools/limits_json/limits_file.h"
#include "weir/decision.h"
#include "weir/limiter.h"

namespace weir::cli {

// What decides; nothing is owned.
struct Subject {
  const Limiter* limiter = nullptr;  // made with trust_tags
  const LimitsFile* limits = nullptr;
  std::string name;        // for messages
  bool or_client = false;  // as for RuleKeys
};

// What one subject said of a row.
struct Answer {
  absl::Span<const std::string_view> keys;  // one for each rule
  Decision decision;
};

// Everything that a run works with; nothing is owned.
struct TraceRunParts {
  RowSource* source = nullptr;
  std::vector<Subject> subjects;
  InputCounts* counts = nullptr;  // lines and malformed are written
  bool strict = false;
  // A row was decided: one answer for each subject, good until this returns. A
  // status that is not ok ends the run.
  std::function<absl::Status(const Row&, absl::Span<const Answer>)> on_row;
  // Called for each malformed line that is skipped.
  std::function<void(const std::string& file, uint64_t line,
                     std::string_view reason)>
      on_malformed;
  // Called now and then.
  std::function<void(const Progress&)> on_progress;
};

// For people: "trace.csv:3: why".
std::string MalformedText(std::string_view file, uint64_t line,
                          std::string_view reason);

class TraceRun {
 public:
  explicit TraceRun(TraceRunParts parts);

  // Reads the source to its end. FailedPrecondition: a malformed line, and
  // `strict`; on_malformed is not called for it. InvalidArgument: the input
  // and the limits do not fit together, or the input is no trace. Anything
  // else: something could not be read or written.
  absl::Status Run();

 private:
  absl::Status Bind(int file);
  absl::Status Decide(const Row& row);
  absl::Status Bad(int file, uint64_t line, std::string_view reason);

  TraceRunParts parts_;
  std::vector<RuleKeys> keys_;   // one for each subject
  std::vector<Answer> answers_;  // kept between rows for their memory
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_TRACE_RUN_H_
