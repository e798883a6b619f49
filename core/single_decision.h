// The decision on a check of a limiter's only rule, made where it is wanted:
//
//   absl::StatusOr<Decision>(absl::in_place, SingleDecision(...))
#ifndef WEIR_CORE_SINGLE_DECISION_H_
#define WEIR_CORE_SINGLE_DECISION_H_

#include <cstdint>
#include <optional>

#include "weir/decision.h"
#include "weir/store.h"

namespace weir {

class SingleDecision {
 public:
  SingleDecision(const SingleRule& single, const Outcome& outcome)
      : single_(single), outcome_(outcome) {}

  operator Decision() const {  // NOLINT(google-explicit-constructor)
    // All is read before anything is written, so that nothing is written
    // twice: for all the compiler knows, the two could overlap.
    const std::string_view name = single_.name;
    const int64_t limit = single_.limit;
    const int64_t soft_above = single_.soft_above;
    const bool allowed = outcome_.allowed;
    const Numbers numbers = outcome_.numbers;
    Decision d;
    d.name = name;
    d.allowed = allowed;
    d.limit = limit;
    d.remaining = numbers.remaining;
    d.reset_after = Micros(numbers.reset_after);
    d.soft = limit - numbers.remaining > soft_above;
    if (__builtin_expect(!allowed, 0)) d.retry_after = WaitOf(numbers.wait);
    return d;
  }

 private:
  const SingleRule& single_;
  const Outcome& outcome_;
};

}  // namespace weir

#endif  // WEIR_CORE_SINGLE_DECISION_H_
