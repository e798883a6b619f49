#include "tools/cli/time_line.h"

#include <algorithm>
#include <utility>

#include "tools/cli/time_units.h"

namespace weir::cli {
namespace {

// Each divides the next. The last ones hold any two times that weir takes in
// two buckets.
constexpr int64_t kWidths[] = {1,
                               10,
                               100,
                               kMs,
                               10 * kMs,
                               100 * kMs,
                               kS,
                               5 * kS,
                               10 * kS,
                               30 * kS,
                               kMin,
                               5 * kMin,
                               10 * kMin,
                               30 * kMin,
                               kHour,
                               2 * kHour,
                               6 * kHour,
                               12 * kHour,
                               kDay,
                               5 * kDay,
                               10 * kDay,
                               50 * kDay,
                               100 * kDay,
                               500 * kDay,
                               1000 * kDay,
                               5000 * kDay,
                               10'000 * kDay,
                               50'000 * kDay,
                               500'000 * kDay};

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

void TimeLine::Move(int64_t time_us) {
  int64_t index = FloorDiv(time_us, width_us_);
  if (buckets_.empty()) {
    first_ = index;
    buckets_.emplace_back();
  }
  const auto spans = [&] {
    const int64_t last = first_ + static_cast<int64_t>(buckets_.size()) - 1;
    return std::max(last, index) - std::min(first_, index) + 1;
  };
  while (spans() > static_cast<int64_t>(max_buckets_)) {
    Widen();
    index = FloorDiv(time_us, width_us_);
  }
  while (index < first_) {
    buckets_.emplace_front();
    --first_;
  }
  const auto offset = static_cast<size_t>(index - first_);
  if (offset >= buckets_.size()) buckets_.resize(offset + 1);
  open_ = &buckets_[offset];
  open_start_ = index * width_us_;
}

void TimeLine::Widen() {
  const int64_t wider = kWidths[++step_];
  const int64_t ratio = wider / width_us_;
  const int64_t new_first = FloorDiv(first_, ratio);
  std::deque<Bucket> merged;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const int64_t index = FloorDiv(first_ + static_cast<int64_t>(i), ratio);
    const auto offset = static_cast<size_t>(index - new_first);
    if (offset >= merged.size()) merged.resize(offset + 1);
    merged[offset].allowed += buckets_[i].allowed;
    merged[offset].denied += buckets_[i].denied;
  }
  buckets_ = std::move(merged);
  first_ = new_first;
  width_us_ = wider;
}

TimeLine TimeLine::Narrowed(size_t max_buckets) const {
  TimeLine narrow(max_buckets);
  narrow.step_ = step_;
  narrow.width_us_ = width_us_;
  narrow.first_ = first_;
  narrow.buckets_ = buckets_;
  while (narrow.buckets_.size() > max_buckets) narrow.Widen();
  return narrow;
}

}  // namespace weir::cli
