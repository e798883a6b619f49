// What the trace generator draws from. Integers only, so that every platform
// draws the same.
#ifndef WEIR_TOOLS_CLI_GENERATE_DRAW_H_
#define WEIR_TOOLS_CLI_GENERATE_DRAW_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "tools/cli/time_units.h"

namespace weir::cli {

// SplitMix64 (Steele, Lea, Flood 2014): small, fast, the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint32_t Next32() { return static_cast<uint32_t>(Next() >> 32); }

  // 0 to n - 1, n at most 2^32. The bias, below n/2^32, does not matter here.
  uint32_t Below(uint64_t n) {
    return static_cast<uint32_t>((Next32() * n) >> 32);
  }

 private:
  uint64_t state_;
};

// An exponential variate of mean 1, in units of 2^-16. Von Neumann's way,
// which only compares uniform numbers: count how long a sequence keeps
// falling; if that is odd its first number is the fraction, else the whole
// part grows by one and it starts again.
inline uint64_t Exponential(Random* random) {
  constexpr uint64_t kMostWhole = 63;
  for (uint64_t whole = 0;; ++whole) {
    const uint32_t first = random->Next32();
    uint32_t last = first;
    bool odd = true;
    for (uint32_t next = random->Next32(); next < last;
         next = random->Next32()) {
      last = next;
      odd = !odd;
    }
    if (odd || whole == kMostWhole) return (whole << 16) + (first >> 16);
  }
}

// How busy a second of the day is, in units of 2^-16 of the average: 0.2 at
// 03:00 rising to 1.8 at 15:00 along a cosine.
class DayCurve {
 public:
  static constexpr uint32_t kPeak = 117965;  // 1.8 * 2^16

  static uint32_t At(int64_t unix_seconds) {
    const int64_t since_least =
        (unix_seconds - 3 * 3600 + kDaySeconds) % kDaySeconds;
    const int64_t step = since_least / kStep;
    const int64_t into = since_least % kStep;
    const int64_t here = Cosine(step);
    const int64_t cosine = here + (Cosine(step + 1) - here) * into / kStep;
    return static_cast<uint32_t>(65536 - cosine * 4 / 5);
  }

 private:
  static constexpr int64_t kStep = 900;

  // Of `step` 96ths of a circle, in units of 2^-16. A table, since the C
  // library's cosine is not the same everywhere.
  static int64_t Cosine(int64_t step) {
    static constexpr int32_t kQuarter[25] = {
        65536, 65396, 64975, 64277, 63303, 62058, 60547, 58777, 56756,
        54491, 51993, 49273, 46341, 43211, 39896, 36410, 32768, 28986,
        25080, 21066, 16962, 12785, 8554,  4286,  0};
    step %= 96;
    if (step > 48) step = 96 - step;
    return step <= 24 ? kQuarter[step] : -kQuarter[48 - step];
  }
};

// Draws k from 1 to n with probability in proportion to 1/k. First the octave
// [2^j, 2^(j+1)) that k lies in, by its share of the sum; then k within it,
// evenly, kept with probability 2^j/k. Memory does not grow with n.
class Zipf {
 public:
  // n: at least 1.
  explicit Zipf(uint64_t n) : n_(n) {
    uint64_t k = 1;
    do {
      total_ += (uint64_t{1} << 40) / k;
      if ((k & (k + 1)) == 0 || k == n) up_to_[octaves_++] = total_;
    } while (++k <= n);
  }

  uint64_t Draw(Random* random) const {
    const uint64_t at = random->Next() % total_;
    int octave = 0;
    while (up_to_[octave] <= at) ++octave;
    const uint64_t first = uint64_t{1} << octave;
    const uint64_t size = std::min(2 * first - 1, n_) - first + 1;
    for (;;) {
      const uint64_t k = first + random->Below(size);
      if (random->Below(k) < first) return k;
    }
  }

 private:
  const uint64_t n_;
  uint64_t total_ = 0;
  int octaves_ = 0;
  std::array<uint64_t, 64> up_to_ = {};
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_GENERATE_DRAW_H_
