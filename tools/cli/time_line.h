// Allowed and denied calls over time, in a bounded number of equal buckets.
// The buckets begin narrow (1 us) and grow as the trace does, along a list of
// widths that people know (..., 1 s, 5 s, 10 s, 30 s, 1 min, ..., 12 h, 1 d,
// ...), each a multiple of the one before. They begin at multiples of their
// width since the Unix epoch.
#ifndef WEIR_TOOLS_CLI_TIME_LINE_H_
#define WEIR_TOOLS_CLI_TIME_LINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

namespace weir::cli {

class TimeLine {
 public:
  struct Bucket {
    uint64_t allowed = 0;
    uint64_t denied = 0;
  };

  explicit TimeLine(size_t max_buckets = 240) : max_buckets_(max_buckets) {}

  void Add(int64_t time_us, bool allowed) {
    if (time_us < open_start_ || time_us - open_start_ >= width_us_) {
      Move(time_us);
    }
    ++(allowed ? open_->allowed : open_->denied);
  }

  // From the first call to the last, those without a call too.
  const std::deque<Bucket>& buckets() const { return buckets_; }
  int64_t width_us() const { return width_us_; }
  // When the first bucket begins.
  int64_t start_us() const { return first_ * width_us_; }

  // The same in at most `max_buckets`.
  TimeLine Narrowed(size_t max_buckets) const;

 private:
  // Makes the bucket of `time_us` the open one.
  void Move(int64_t time_us);
  // Goes to the next width.
  void Widen();

  size_t max_buckets_;
  size_t step_ = 0;  // in the list of widths
  int64_t width_us_ = 1;
  int64_t first_ = 0;  // start of the first bucket / width
  std::deque<Bucket> buckets_;
  Bucket* open_ = nullptr;
  int64_t open_start_ = std::numeric_limits<int64_t>::max();
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_TIME_LINE_H_
