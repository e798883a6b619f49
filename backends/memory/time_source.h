// What a call without a time of its own counts by.
#ifndef WEIR_BACKENDS_MEMORY_TIME_SOURCE_H_
#define WEIR_BACKENDS_MEMORY_TIME_SOURCE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/attributes.h"
#include "core/time_stamp_counter.h"
#include "weir/clock.h"
#include "weir/time.h"

namespace weir {

class TimeSource {
 public:
  // `clock`: the user's, or null.
  explicit TimeSource(std::shared_ptr<const Clock> clock)
      : clock_(std::move(clock)),
        fast_(clock_ == nullptr ? &own_.fast() : nullptr) {}

  // A reading of a clock of which nothing is known.
  static int64_t ReadOf(const Clock& clock) {
    return std::clamp(ToMicros(clock.Now()), -kMaxExact, kMaxExact);
  }

  const Clock& clock() const { return clock_ == nullptr ? own_ : *clock_; }
  // Null: the clock is the user's.
  const FastClock* fast() const { return fast_; }
  // May be a little early: see FastClock.
  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t Read() const {
    return fast_ != nullptr ? fast_->Early() : ReadOf(*clock_);
  }
  // Of the store's own clock; what takes a detour is not inline.
  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t ReadOwn() const {
    int64_t t;
    if (__builtin_expect(fast_->TryEarly(&t), 1)) return t;
    return ReadApart();
  }

 private:
  ABSL_ATTRIBUTE_NOINLINE int64_t ReadApart() const { return Read(); }

  const SteadyClock own_;
  const std::shared_ptr<const Clock> clock_;
  const FastClock* const fast_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_TIME_SOURCE_H_
