// What a limit reaches into the future must stay where both stores are exact.
#ifndef WEIR_CORE_REACH_H_
#define WEIR_CORE_REACH_H_

#include <cstdint>
#include <string_view>

#include "core/duration_text.h"
#include "core/math.h"
#include "core/text.h"
#include "weir/time.h"

namespace weir {

// `field`, a time of `us`, used from `now` on.
inline absl::Status CheckReach(std::string_view field, int64_t us,
                               int64_t now) {
  // In the wide: a store of the user's own may tell any time.
  if (Wide{now} + us <= kMaxExact) return absl::OkStatus();
  return InvalidArgument(Sv(field), ": ", DurationText(us),
                         " would end after the year 2255 (2^53 us)");
}

}  // namespace weir

#endif  // WEIR_CORE_REACH_H_
