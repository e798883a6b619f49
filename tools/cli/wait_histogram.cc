#include "tools/cli/wait_histogram.h"

#include <algorithm>

namespace weir::cli {

int WaitHistogram::GroupOf(int64_t us) {
  int group = 0;
  while ((us >> group) >= kWidth) ++group;
  return group;
}

void WaitHistogram::Add(int64_t us) {
  const int group = GroupOf(us);
  std::unique_ptr<uint64_t[]>& buckets = groups_[group];
  if (buckets == nullptr) buckets = std::make_unique<uint64_t[]>(kWidth);
  const int64_t bucket = group == 0 ? us : (us >> (group - 1)) - kWidth;
  ++buckets[static_cast<size_t>(bucket)];
  min_ = count_ == 0 ? us : std::min(min_, us);
  max_ = std::max(max_, us);
  ++count_;
}

int64_t WaitHistogram::Quantile(int permille) const {
  const auto share = static_cast<uint64_t>(permille);
  // ceil(count * permille / 1000), without overflow.
  const uint64_t rank =
      count_ / 1000 * share + (count_ % 1000 * share + 999) / 1000;
  uint64_t seen = 0;
  for (int group = 0; group < kGroups; ++group) {
    if (groups_[group] == nullptr) continue;
    for (int64_t bucket = 0; bucket < kWidth; ++bucket) {
      seen += groups_[group][static_cast<size_t>(bucket)];
      if (seen < rank || seen == 0) continue;
      if (group == 0) return bucket;
      const int64_t size = int64_t{1} << (group - 1);
      const int64_t middle = (bucket + kWidth) * size + size / 2;
      return std::clamp(middle, min_, max_);
    }
  }
  return max_;
}

}  // namespace weir::cli
