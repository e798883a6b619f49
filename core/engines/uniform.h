// uniform: gcra with a limit of 1 and a burst of 1. kDoc says what it promises
// and costs.
#ifndef WEIR_CORE_ENGINES_UNIFORM_H_
#define WEIR_CORE_ENGINES_UNIFORM_H_

#include <cstdint>
#include <string_view>

#include "core/engines/gcra.h"

namespace weir::engines {

struct Uniform : Gcra {
  static constexpr std::string_view kName = "uniform";
  static constexpr EngineDoc kDoc = {
      "One call, then none for `interval`.",
      "1 + s / interval in any span s",
      "8 bytes a key; constant time",
      "For a gate; where even two calls at once are too many. The same engine "
      "as gcra.",
      "Peak rate policing, ITU-T I.371",
      "interval=250ms",
  };
  static constexpr Field kFields[] = {
      DurationField("interval", "the least time between two calls"),
      kMaxWaitField,
  };

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    return Make(1, f.Duration("interval"), 1,
                f.Duration("max_wait", kDefaultMaxWaitUs), now, "interval");
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_UNIFORM_H_
