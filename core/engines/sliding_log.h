// sliding_log: every recent call as (time, cost). kDoc says what it promises
// and costs.
//
// Calls never merge, however many share a microsecond; a call of age `window`
// has left. A charge drops at most 32 entries that have left, or the whole log
// if all have. In Redis it is one sorted set.
#ifndef WEIR_CORE_ENGINES_SLIDING_LOG_H_
#define WEIR_CORE_ENGINES_SLIDING_LOG_H_

#include <cstdint>
#include <string_view>

#include "core/engines/log_store.h"
#include "core/engines/log_view.h"
#include "core/reach.h"
#include "weir/engine.h"

namespace weir::engines {

// The limit of a log, which keeps every call.
constexpr Field LogLimitField(int64_t max) {
  Field field = {"limit", FieldType::kCount,
                 "calls in any window, each of which is kept"};
  field.max = max;
  field.instead =
      "; gcra, fixed_window and sliding_window_counter take constant memory at "
      "any limit";
  return field;
}

struct SlidingLog : LogScript {
  static constexpr std::string_view kName = "sliding_log";
  static constexpr int64_t kMaxLimit = 10'000'000;
  static constexpr EngineDoc kDoc = {
      "At most `limit` in every window, wherever it is laid.",
      "limit in every window",
      "8 bytes for each call inside (16 if costs differ from 1); time "
      "logarithmic in their number",
      "Where no window may ever hold more and the limit is small.",
      "Sliding window log, as a sorted set",
      "limit=5 window=1m",
  };
  static constexpr Field kFields[] = {
      LogLimitField(kMaxLimit),
      DurationField("window", "how long a call counts"),
  };

  using Params = LogParams;

  template <class T>
  using View = LogView<T, SortedSetLog>;

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    return Make(f.Count("limit"), f.Duration("window"), /*closed=*/0, now);
  }

  // `closed` 1: a call still counts when its age is exactly the window.
  static absl::StatusOr<Params> Make(int64_t limit, int64_t window,
                                     int64_t closed, int64_t now) {
    if (absl::Status s = CheckReach("window", window, now); !s.ok()) return s;
    return Params{limit, window, window + closed, 0, false};
  }

  static Traits TraitsOf(const Params& p) { return {p.limit, p.window}; }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_SLIDING_LOG_H_
