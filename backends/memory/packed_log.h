// A log of times, packed: 8 bytes an entry while every cost is 1, 16 if not.
// The encoding behind the sorted sets and lists that engines keep logs in.
#ifndef WEIR_BACKENDS_MEMORY_PACKED_LOG_H_
#define WEIR_BACKENDS_MEMORY_PACKED_LOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "backends/memory/ring.h"
#include "core/engines/log_entry.h"

namespace weir {

class PackedLog {
 public:
  using LogEntry = engines::LogEntry;

  size_t size() const { return times_.size(); }
  int64_t time(size_t i) const { return times_[i]; }
  int64_t sum(size_t i) const {
    return sums_ != nullptr ? (*sums_)[i]
                            : before_ + static_cast<int64_t>(i) + 1;
  }
  LogEntry At(size_t i) const {
    const int64_t previous = i == 0 ? before_ : sum(i - 1);
    return {times_[i], sum(i), sum(i) - previous};
  }

  // False, and nothing changed, unless the entry continues the log: a positive
  // cost, and the sum that follows from it.
  bool Append(const LogEntry& e) {
    const size_t n = size();
    if (e.cost < 1) return false;
    if (n == 0) {
      Clear();
      before_ = e.sum - e.cost;
    } else if (e.sum - e.cost != sum(n - 1)) {
      return false;
    }
    if (sums_ == nullptr && e.cost != 1) {
      // The sums so far, all at once: as many as the log has entries.
      auto sums = std::make_unique<Ring<int64_t>>();
      for (size_t i = 0; i < n; ++i) sums->push_back(sum(i));
      sums_ = std::move(sums);
    }
    if (sums_ != nullptr) sums_->push_back(e.sum);
    times_.push_back(e.time);
    return true;
  }

  void PopFront(size_t n) {
    if (n == 0) return;
    before_ = sum(n - 1);
    times_.pop_front(n);
    if (sums_ != nullptr) sums_->pop_front(n);
  }

  void PopBack(size_t n) {
    times_.pop_back(n);
    if (sums_ != nullptr) sums_->pop_back(n);
  }

  // On the heap.
  size_t bytes() const {
    return times_.bytes() +
           (sums_ == nullptr ? 0 : sizeof(*sums_) + sums_->bytes());
  }

  void Clear() { *this = PackedLog(); }

 private:
  int64_t before_ = 0;  // the sum before the first entry
  Ring<int64_t> times_;
  std::unique_ptr<Ring<int64_t>> sums_;  // one for each time; null: costs of 1
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_PACKED_LOG_H_
