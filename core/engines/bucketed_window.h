// bucketed_window: a log whose calls count as made at the start of their slot.
// Who keeps knocking stays outside, if denied calls count. kDoc says what it
// promises and costs. In Redis it is one list.
#ifndef WEIR_CORE_ENGINES_BUCKETED_WINDOW_H_
#define WEIR_CORE_ENGINES_BUCKETED_WINDOW_H_

#include <cstdint>
#include <string_view>

#include "core/duration_text.h"
#include "core/engines/log_store.h"
#include "core/engines/log_view.h"
#include "core/reach.h"
#include "core/text.h"
#include "weir/engine.h"

namespace weir::engines {

struct BucketedWindow : LogScript {
  static constexpr std::string_view kName = "bucketed_window";
  static constexpr EngineDoc kDoc = {
      "At most `limit` in a window that moves in steps of `resolution`; denied "
      "calls count too, unless told otherwise.",
      "limit in any span up to window - resolution; 2 * limit in a window",
      "16 bytes for each slot with calls, at most window / resolution + 2; "
      "time logarithmic in their number",
      "Where denied calls must count, or a log would be too long.",
      "Sliding window over sub-counters",
      "limit=5000 window=1h resolution=1m",
  };
  static constexpr Field kFields[] = {
      {"limit", FieldType::kCount, "calls a window"},
      DurationField("window", "how long a slot counts"),
      DurationField("resolution", "the length of a slot, at most the window"),
      {"count_denied", FieldType::kBool, "denied calls count too", "true"},
  };

  using Params = LogParams;

  template <class T>
  using View = LogView<T, ListLog>;

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    const int64_t window = f.Duration("window");
    const int64_t resolution = f.Duration("resolution");
    if (resolution > window) {
      return InvalidArgument("resolution: ", DurationText(resolution),
                             " is longer than the window; allowed: 1us to ",
                             DurationText(window));
    }
    if (absl::Status s = CheckReach("window", window, now); !s.ok()) return s;
    return Params{f.Count("limit"), window, window, resolution,
                  f.Bool("count_denied", true)};
  }

  static Traits TraitsOf(const Params& p) {
    return {p.limit, p.window, p.count_denied};
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_BUCKETED_WINDOW_H_
