// What is counted of a stream of verdicts: one rule's, or the whole limiter's.
// Memory does not grow with the calls.
#ifndef WEIR_TOOLS_CLI_TALLY_H_
#define WEIR_TOOLS_CLI_TALLY_H_

#include <cstdint>
#include <optional>

#include "tools/cli/time_line.h"
#include "tools/cli/wait_histogram.h"
#include "tools/cli/worst_minute.h"
#include "weir/time.h"

namespace weir::cli {

struct Tally {
  uint64_t allowed = 0;
  uint64_t denied = 0;
  // Of the denied: no wait would have helped.
  uint64_t never = 0;
  // Over the rule's soft share.
  uint64_t soft = 0;
  // The waits of the others.
  WaitHistogram waits;
  WorstMinute worst_minute;
  TimeLine time_line;

  uint64_t calls() const { return allowed + denied; }
  double denied_share() const {
    if (calls() == 0) return 0;
    return static_cast<double>(denied) / static_cast<double>(calls());
  }

  // `retry_after` is looked at only if the call was denied.
  void Add(int64_t time_us, bool was_allowed,
           const std::optional<Micros>& retry_after) {
    time_line.Add(time_us, was_allowed);
    if (was_allowed) {
      ++allowed;
      return;
    }
    ++denied;
    worst_minute.Add(time_us);
    if (retry_after.has_value()) {
      waits.Add(retry_after->count());
    } else {
      ++never;
    }
  }
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_TALLY_H_
