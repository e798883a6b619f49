// Loops that do nothing but what a limiter can't avoid.
#ifndef WEIR_BENCH_FLOOR_H_
#define WEIR_BENCH_FLOOR_H_

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/memory/hash.h"
#include "backends/memory/spin_lock.h"
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

// One time for each of many keys, each on a line of its own that its hash
// gives: one hash, one lock, one reading of the counter and one miss, which
// begins before the other two. Keys whose hashes meet share their time, and no
// key is compared: not a limiter, but what one can't go below.
class KeyedCells {
 public:
  explicit KeyedCells(size_t keys) : lines_(SizeFor(keys)) {}

  bool Check(std::string_view key) {
    const uint64_t hash = Fetch(key);
    return Pass(hash, [] { return TimeStampCounter::Ticks(); });
  }

  // For batches: the first step for all keys, then one reading, then the second
  // step for all.
  uint64_t Fetch(std::string_view key) const {
    const uint64_t hash = hash_(0, key);
    __builtin_prefetch(&lines_[hash & (lines_.size() - 1)], 1);
    return hash;
  }
  template <class Now>
  bool Pass(uint64_t hash, Now now_of) {
    const SpinLockHolder lock(&stripes_[hash >> 58].mutex);
    const uint64_t now = now_of();
    uint64_t& tat = lines_[hash & (lines_.size() - 1)].tat;
    const uint64_t from = tat > now ? tat : now;
    if (from - now > uint64_t{1} << 60) return false;
    tat = from + 1;
    return true;
  }

 private:
  struct alignas(64) Line {
    uint64_t tat = 0;
  };
  struct alignas(64) Stripe {
    SpinLock mutex;
  };
  static size_t SizeFor(size_t keys) {
    size_t size = 1;
    while (size < keys) size *= 2;
    return size;
  }

  const KeyHash hash_;
  std::vector<Line> lines_;
  Stripe stripes_[64];
};

}  // namespace weir::bench

#endif  // WEIR_BENCH_FLOOR_H_
