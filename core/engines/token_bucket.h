// token_bucket: gcra, whose arrival time is the instant at which the bucket
// will be full again. kDoc says what it promises and costs.
#ifndef WEIR_CORE_ENGINES_TOKEN_BUCKET_H_
#define WEIR_CORE_ENGINES_TOKEN_BUCKET_H_

#include <cstdint>
#include <string_view>

#include "core/engines/gcra.h"

namespace weir::engines {

struct TokenBucket : Gcra {
  static constexpr std::string_view kName = "token_bucket";
  static constexpr EngineDoc kDoc = {
      "A bucket of `capacity` tokens; `refill` come back, evenly, in each "
      "`interval`.",
      "capacity + refill * s / interval in any span s",
      "8 to 16 bytes a key; constant time",
      "When people think in tokens. The same engine as gcra.",
      "Token bucket, as in RFC 2697, kept as the generic cell rate algorithm",
      "capacity=20 refill=100 interval=1s",
  };
  static constexpr Field kFields[] = {
      {"capacity", FieldType::kCount, "tokens that the bucket holds"},
      {"refill", FieldType::kCount, "tokens that come back an interval"},
      DurationField("interval", "the time in which `refill` come back"),
      kMaxWaitField,
  };

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    return Make(f.Count("refill"), f.Duration("interval"), f.Count("capacity"),
                f.Duration("max_wait", kDefaultMaxWaitUs), now, "capacity");
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_TOKEN_BUCKET_H_
