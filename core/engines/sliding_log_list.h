// sliding_log_list: sliding_log, but a call of age exactly `window` still
// counts, and leaves one microsecond later. kDoc says what it promises and
// costs.
//
// In Redis it is one list, newest first: about half the bytes of a sorted set
// for short logs and a tenth for long ones.
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
