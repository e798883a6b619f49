// What a program needs that times every call: a clock, counts of calls by their
// time, and the memory of the process.
#ifndef WEIR_BENCH_LATENCY_H_
#define WEIR_BENCH_LATENCY_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace weir::bench {

inline int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Resident memory now ("VmRSS"), or the most there ever was ("VmHWM"), in
// bytes.
inline int64_t Memory(const char* field) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  char line[256];
  int64_t kib = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::string(line).rfind(field, 0) == 0) {
      kib = std::strtoll(line + std::string(field).size() + 1, nullptr, 10);
    }
  }
  std::fclose(file);
  return kib * 1024;
}

// Counts of calls by their time: 16 steps to each doubling.
class Histogram {
 public:
  void Add(int64_t ns) {
    worst_ = std::max(worst_, ns);
    over_1ms_ += ns > 1'000'000 ? 1 : 0;
    ++total_;
    ++counts_[IndexOf(ns)];
  }
  void Add(const Histogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    worst_ = std::max(worst_, other.worst_);
    over_1ms_ += other.over_1ms_;
    total_ += other.total_;
  }
  int64_t total() const { return total_; }
  // As a field of a JSON object.
  void Print(const char* name) const {
    std::printf("\"%s\": {\"p50_ns\": %lld, \"p99_ns\": %lld, ", name, At(0.5),
                At(0.99));
    std::printf("\"p99.99_ns\": %lld, \"worst_ns\": %lld, \"over_1ms\": %lld}",
                At(0.9999), static_cast<long long>(worst_),
                static_cast<long long>(over_1ms_));
  }

 private:
  static constexpr int kSteps = 16;
  static size_t IndexOf(int64_t ns) {
    if (ns < kSteps) return static_cast<size_t>(std::max<int64_t>(ns, 0));
    const int shift = 59 - __builtin_clzll(static_cast<uint64_t>(ns));
    return static_cast<size_t>((shift + 1) * kSteps + (ns >> shift) - kSteps);
  }
  static int64_t ValueOf(size_t index) {
    const auto i = static_cast<int64_t>(index);
    if (i < kSteps) return i;
    return (i % kSteps + kSteps + 1) << (i / kSteps - 1);
  }
  long long At(double share) const {
    const auto wanted =
        static_cast<int64_t>(static_cast<double>(total_) * share);
    int64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted) return ValueOf(i);
    }
    return worst_;
  }

  std::vector<int64_t> counts_ = std::vector<int64_t>(64 * kSteps);
  int64_t total_ = 0;
  int64_t worst_ = 0;
  int64_t over_1ms_ = 0;
};

}  // namespace weir::bench

#endif  // WEIR_BENCH_LATENCY_H_
