// How long callers had to wait: quantiles of any number of waits in bounded
// memory.
//
// A histogram with buckets that grow with the value: below 2048 us each value
// has its own; above, each doubling of the value is cut into 1024 equal
// buckets. A quantile is the middle of its bucket, so it is off by at most
// 1/2048 of the value (0.05 %). At most 360 KiB; less where the waits are
// alike.
#ifndef WEIR_TOOLS_CLI_WAIT_HISTOGRAM_H_
#define WEIR_TOOLS_CLI_WAIT_HISTOGRAM_H_

#include <cstdint>
#include <memory>

namespace weir::cli {

class WaitHistogram {
 public:
  // `us` is at least 0.
  void Add(int64_t us);

  uint64_t count() const { return count_; }
  // The greatest wait, exact. Requires count() > 0.
  int64_t max() const { return max_; }

  // The smallest wait that `permille` of all waits are not above (the nearest
  // rank; 500: the median), within the error named above, and never outside
  // the smallest and the greatest wait. Requires count() > 0.
  int64_t Quantile(int permille) const;

 private:
  static constexpr int kBits = 10;
  static constexpr int64_t kWidth = int64_t{1} << kBits;
  // Group 0 holds the values below kWidth, one to a bucket; group g > 0 those
  // in [kWidth << (g - 1), kWidth << g), 1 << (g - 1) to a bucket.
  static constexpr int kGroups = 64 - kBits;

  static int GroupOf(int64_t us);

  std::unique_ptr<uint64_t[]> groups_[kGroups];
  uint64_t count_ = 0;
  int64_t min_ = 0;
  int64_t max_ = 0;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_WAIT_HISTOGRAM_H_
