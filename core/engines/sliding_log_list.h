// sliding_log_list: at most `limit` in every window, both ends counted.
//
// Promises: no closed window of length `window` ever holds more: a call of age
//   exactly `window` still counts, and leaves one microsecond later.
// Cost: that of sliding_log. In Redis one list, about half the bytes of a
//   sorted set for short logs and a tenth for long ones.
// Source: the log of recent calls, kept as a list, newest first.
// Choose it: where a log is wanted on Redis and its bytes matter.
#ifndef WEIR_CORE_ENGINES_SLIDING_LOG_LIST_H_
#define WEIR_CORE_ENGINES_SLIDING_LOG_LIST_H_

#include <cstdint>
#include <string_view>

#include "core/engines/sliding_log.h"

namespace weir::engines {

struct SlidingLogList : SlidingLog {
  static constexpr std::string_view kName = "sliding_log_list";
  static constexpr EngineDoc kDoc = {
      "At most `limit` in every window, both of its ends counted.",
      "limit in every window, closed at both ends",
      "8 bytes for each call inside (16 if costs differ from 1); time "
      "logarithmic in their number",
      "Where a log is wanted on Redis and its bytes matter.",
      "Sliding window log, as a list",
      "limit=5 window=1m",
  };

  template <class T>
  using View = LogView<T, ListLog>;

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    return Make(f.Count("limit"), f.Duration("window"), /*closed=*/1, now);
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_SLIDING_LOG_LIST_H_
