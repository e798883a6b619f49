// A line on standard error that says how far the work is: only on a terminal,
// only if the work is long, and gone at its end.
#ifndef WEIR_TOOLS_CLI_PROGRESS_LINE_H_
#define WEIR_TOOLS_CLI_PROGRESS_LINE_H_

#include <chrono>

#include "tools/cli/input/row.h"

namespace weir::cli {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows the line if it is time to.
  void Show(const Progress& progress);
  // Takes it away, so that something else can be written.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  const bool terminal_;
  const Clock::time_point begin_;
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_PROGRESS_LINE_H_
