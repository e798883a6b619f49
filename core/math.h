// Exact arithmetic: what could pass 64 bits goes through 128, and every
// division says which way it rounds.
#ifndef WEIR_CORE_MATH_H_
#define WEIR_CORE_MATH_H_

#include <cstdint>

#include "weir/time.h"

namespace weir {

// Holds any count * window (10^12 * 3.2 * 10^15) many times over.
__extension__ typedef __int128 Wide;

constexpr Wide Times(int64_t a, int64_t b) { return Wide{a} * b; }

// a / b for b > 0, rounded towards minus infinity.
constexpr Wide FloorDiv(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }

// a / b for b > 0, rounded towards plus infinity.
constexpr Wide CeilDiv(Wide a, Wide b) { return a / b + (a % b > 0 ? 1 : 0); }

// Sums of counts stop here; both stores keep it exactly.
constexpr int64_t Saturate(Wide a) {
  return a > kMaxExact ? kMaxExact : static_cast<int64_t>(a);
}

}  // namespace weir

#endif  // WEIR_CORE_MATH_H_
