// Loops that do nothing but what a limiter can't avoid.
#ifndef WEIR_BENCH_FLOOR_H_
#define WEIR_BENCH_FLOOR_H_

#include <atomic>
#include <cstdint>

#include "core/time_stamp_counter.h"

namespace weir::bench {

// One time, moved on by a compare-and-swap: a limiter for one known key.
class Cell {
 public:
  // With a reading of the counter, or with the caller's time.
  bool CheckNow() { return Pass(TimeStampCounter::Ticks()); }
  bool Pass(uint64_t now) {
    uint64_t tat = tat_.load(std::memory_order_relaxed);
    for (;;) {
      const uint64_t from = tat > now ? tat : now;
      if (from - now > uint64_t{1} << 60) return false;
      if (tat_.compare_exchange_weak(tat, from + 1)) return true;
    }
  }

 private:
  alignas(64) std::atomic<uint64_t> tat_{0};
};

}  // namespace weir::bench

#endif  // WEIR_BENCH_FLOOR_H_
