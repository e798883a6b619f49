// How long a call may be told to wait.
#ifndef WEIR_CORE_MAX_WAIT_H_
#define WEIR_CORE_MAX_WAIT_H_

#include "absl/status/status.h"
#include "core/duration_text.h"
#include "core/text.h"
#include "weir/time.h"

namespace weir {

inline absl::Status CheckMaxWait(Micros max_wait) {
  if (max_wait.count() >= 0) return absl::OkStatus();
  return InvalidArgument("max_wait: ", DurationText(max_wait.count()),
                         "; allowed: 0 or more");
}

}  // namespace weir

#endif  // WEIR_CORE_MAX_WAIT_H_
