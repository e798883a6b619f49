#include "tools/cli/worst_minute.h"

#include <algorithm>
#include <vector>

namespace weir::cli {
namespace {

bool IsWorse(const WorstMinute::Minute& a, const WorstMinute::Minute& b) {
  if (a.denied != b.denied) return a.denied > b.denied;
  return a.start_us < b.start_us;
}

}  // namespace

std::optional<WorstMinute::Minute> WorstMinute::Find() const {
  Minute worst = forgotten_;
  if (IsWorse({start_, open_}, worst)) worst = {start_, open_};
  for (const auto& [start, denied] : closed_) {
    if (IsWorse({start, denied}, worst)) worst = {start, denied};
  }
  if (worst.denied == 0) return std::nullopt;
  return worst;
}

void WorstMinute::Move(int64_t time_us) {
  if (open_ > 0) closed_[start_] = open_;
  if (closed_.size() >= 2 * kKept) Forget();
  const int64_t into = (time_us % kMinuteUs + kMinuteUs) % kMinuteUs;
  start_ = time_us - into;
  const auto known = closed_.find(start_);
  open_ = known == closed_.end() ? 0 : known->second;
  if (known != closed_.end()) closed_.erase(known);
}

void WorstMinute::Forget() {
  std::vector<int64_t> starts;
  starts.reserve(closed_.size());
  for (const auto& entry : closed_) starts.push_back(entry.first);
  const auto middle = starts.end() - static_cast<std::ptrdiff_t>(kKept);
  std::nth_element(starts.begin(), middle, starts.end());
  for (auto it = starts.begin(); it != middle; ++it) {
    const auto old = closed_.find(*it);
    const Minute minute = {old->first, old->second};
    if (IsWorse(minute, forgotten_)) forgotten_ = minute;
    closed_.erase(old);
  }
}

}  // namespace weir::cli
