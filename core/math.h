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

// 0 <= a < 2^63: a division of 64 bits gives the same, several times sooner.
constexpr bool FitsDivision(Wide a) { return a >> 63 == 0; }

// a / b for b > 0, rounded towards minus infinity.
constexpr Wide FloorDiv(Wide a, int64_t b) {
  if (FitsDivision(a)) return static_cast<int64_t>(a) / b;
  return a / b - (a % b < 0 ? 1 : 0);
}

// a / b for b > 0, rounded towards plus infinity.
constexpr Wide CeilDiv(Wide a, int64_t b) {
  if (FitsDivision(a)) {
    const int64_t narrow = static_cast<int64_t>(a);
    return narrow / b + (narrow % b != 0 ? 1 : 0);
  }
  return a / b + (a % b > 0 ? 1 : 0);
}

// Sums of counts stop here; both stores keep it exactly.
constexpr int64_t Saturate(Wide a) {
  return a > kMaxExact ? kMaxExact : static_cast<int64_t>(a);
}

}  // namespace weir

#endif  // WEIR_CORE_MATH_H_
