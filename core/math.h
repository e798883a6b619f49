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

// Division by a number that is known beforehand: a multiplication and a shift
// take the place of the processor's division, which takes several times as
// long.
class Divisor {
 public:
  // What is divided is less than this.
  static constexpr int64_t kEnd = int64_t{1} << 62;

  // By one.
  constexpr Divisor() = default;
  // 1 <= by <= kEnd.
  constexpr explicit Divisor(int64_t by) {
    while (int64_t{1} << shift_ < by) ++shift_;
    // 2^(62 + shift) / by, rounded up. by > 2^(shift - 1), so it fits.
    const Wide power = Wide{kEnd} << shift_;
    factor_ = static_cast<uint64_t>(power / by + (power % by != 0 ? 1 : 0));
  }

  // a / by, rounded down; exact for 0 <= a < kEnd. With p = 2^(62 + shift),
  // factor * by is p + e, where e < by <= 2^shift. So a * factor / p exceeds
  // a / by by a * e / p / by. That is less than 1 / by, since a < 2^62: too
  // little to reach the next whole number.
  constexpr int64_t Floor(int64_t a) const {
    __extension__ typedef unsigned __int128 Product;
    const Product product = Product{static_cast<uint64_t>(a) << 2} * factor_;
    return static_cast<int64_t>(static_cast<uint64_t>(product >> 64) >> shift_);
  }
  // Rounded up; 0 < a <= kEnd.
  constexpr int64_t Ceil(int64_t a) const { return Floor(a - 1) + 1; }

 private:
  uint64_t factor_ = uint64_t{1} << 62;
  int shift_ = 0;
};

// Sums of counts stop here; both stores keep it exactly.
constexpr int64_t Saturate(Wide a) {
  return a > kMaxExact ? kMaxExact : static_cast<int64_t>(a);
}

}  // namespace weir

#endif  // WEIR_CORE_MATH_H_
