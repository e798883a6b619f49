// Times of single calls, for medians.
#ifndef WEIR_BENCH_REDIS_SAMPLES_H_
#define WEIR_BENCH_REDIS_SAMPLES_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "bench/redis/runs.h"

namespace weir::bench {

using Steady = std::chrono::steady_clock;

class Samples {
 public:
  void Add(Steady::duration time) {
    us_.push_back(std::chrono::duration<double, std::micro>(time).count());
  }
  void Add(const Samples& other) {
    us_.insert(us_.end(), other.us_.begin(), other.us_.end());
  }
  Speed Take(Steady::duration all) {
    Speed speed;
    if (us_.empty()) return speed;
    std::sort(us_.begin(), us_.end());
    speed.per_second = static_cast<double>(us_.size()) /
                       std::chrono::duration<double>(all).count();
    speed.p50_us = us_[us_.size() / 2];
    speed.p99_us = us_[us_.size() * 99 / 100];
    return speed;
  }

 private:
  std::vector<double> us_;
};

// Times call(0), call(1) and so on, for so long. Nothing if one says false.
template <class Call>
Speed TimeEach(std::chrono::milliseconds time, Call call) {
  Samples samples;
  const auto start = Steady::now();
  const auto end = start + time;
  uint64_t n = 0;
  for (auto before = start; before < end;) {
    if (!call(n++)) return {};
    const auto after = Steady::now();
    samples.Add(after - before);
    before = after;
  }
  return samples.Take(Steady::now() - start);
}

}  // namespace weir::bench

#endif  // WEIR_BENCH_REDIS_SAMPLES_H_
