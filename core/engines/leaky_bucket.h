// leaky_bucket: gcra, whose arrival time is the instant at which the bucket
// will be empty: a meter, not a queue. kDoc says what it promises and costs.
#ifndef WEIR_CORE_ENGINES_LEAKY_BUCKET_H_
#define WEIR_CORE_ENGINES_LEAKY_BUCKET_H_

#include <cstdint>
#include <string_view>

#include "core/engines/gcra.h"

namespace weir::engines {

struct LeakyBucket : Gcra {
  static constexpr std::string_view kName = "leaky_bucket";
  static constexpr EngineDoc kDoc = {
      "A bucket that holds `capacity` and leaks `leak`, evenly, in each "
      "`interval`; a call that would overflow it is denied.",
      "capacity + leak * s / interval in any span s",
      "8 to 16 bytes a key; constant time",
      "When people think of a level that must not overflow. The same engine "
      "as gcra.",
      "Leaky bucket as a meter, ITU-T I.371",
      "capacity=20 leak=100 interval=1s",
  };
  static constexpr Field kFields[] = {
      {"capacity", FieldType::kCount, "what the bucket holds"},
      {"leak", FieldType::kCount, "what leaks an interval"},
      DurationField("interval", "the time in which `leak` leaks"),
      kMaxWaitField,
  };

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    return Make(f.Count("leak"), f.Duration("interval"), f.Count("capacity"),
                f.Duration("max_wait", kDefaultMaxWaitUs), now, "capacity");
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_LEAKY_BUCKET_H_
