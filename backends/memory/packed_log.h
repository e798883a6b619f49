// A log of times, packed: 8 bytes an entry while every cost is 1; from the
// first other cost on, 16. The encoding behind the sorted sets and lists that
// engines keep logs in.
#ifndef WEIR_BACKENDS_MEMORY_PACKED_LOG_H_
#define WEIR_BACKENDS_MEMORY_PACKED_LOG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "backends/memory/ring.h"
#include "core/engines/log_entry.h"

namespace weir {

class PackedLog {
 public:
  using LogEntry = engines::LogEntry;

  PackedLog() = default;
  PackedLog(PackedLog&&) = default;
  PackedLog& operator=(PackedLog&&) = default;
  PackedLog(const PackedLog& other)
      : form(other.form),
        newest_is_left(other.newest_is_left),
        plain_(other.plain_),
        before_(other.before_),
        times_(other.times_) {
    if (other.sums_ == nullptr) return;
    sums_ = std::make_unique<Ring<int64_t>>(*other.sums_);
  }
  PackedLog& operator=(const PackedLog&) = delete;

  // What the owner keeps in the log, for which there is room here: how its
  // entries are read, and where its newest one is.
  enum class Form : uint8_t { kEntries, kDecimals };
  Form form = Form::kEntries;
  bool newest_is_left = true;

  size_t size() const { return times_.size(); }
  bool full() const { return size() == Ring<int64_t>::kMost; }
  int64_t time(size_t i) const { return times_[i]; }
  int64_t sum(size_t i) const {
    return i < plain_ ? before_ + static_cast<int64_t>(i) + 1
                      : (*sums_)[i - plain_];
  }
  LogEntry At(size_t i) const {
    const int64_t previous = i == 0 ? before_ : sum(i - 1);
    return {times_[i], sum(i), sum(i) - previous};
  }

  // False, and nothing changed, unless the entry continues the log: a positive
  // cost, and the sum that follows from it. Not if it is full.
  bool Append(const LogEntry& e) {
    const size_t n = size();
    if (e.cost < 1) return false;
    if (n == 0) {
      Clear();
      before_ = e.sum - e.cost;
    } else if (e.sum - e.cost != sum(n - 1)) {
      return false;
    }
    AppendNext(e.time, e.cost);
    return true;
  }

  // An entry whose sum is whatever follows from the cost, at least 1. Throws as
  // operator new does; then nothing has changed.
  void AppendNext(int64_t time, int64_t cost) {
    if (cost == 1 && (sums_ == nullptr || sums_->size() == 0)) {
      times_.push_back(time);
      ++plain_;
      return;
    }
    const int64_t previous = size() == 0 ? before_ : sum(size() - 1);
    if (sums_ == nullptr) sums_ = std::make_unique<Ring<int64_t>>();
    times_.push_back(time);
    auto undo = absl::MakeCleanup([this] { times_.pop_back(1); });
    sums_->push_back(previous + cost);
    std::move(undo).Cancel();
  }

  // The newest entry becomes another one; there is one. False, and nothing
  // changed, unless that continues the log as Append wants it. Throws as
  // operator new does; then nothing has changed.
  bool ReplaceNewest(const LogEntry& e) {
    const size_t last = size() - 1;
    const int64_t previous = e.sum - e.cost;
    if (e.cost < 1 || (last > 0 && previous != sum(last - 1))) return false;
    const bool was_plain = plain_ > last;
    const bool plain = e.cost == 1 && plain_ >= last;
    if (!plain && was_plain) {
      if (sums_ == nullptr) sums_ = std::make_unique<Ring<int64_t>>();
      sums_->push_back(e.sum);
      --plain_;
    } else if (!plain) {
      sums_->set_back(e.sum);
    } else if (!was_plain) {
      sums_->pop_back(1);
      ++plain_;
    }
    if (last == 0) before_ = previous;
    times_.set_back(e.time);
    return true;
  }

  void PopFront(size_t n) {
    if (n == 0) return;
    before_ = sum(n - 1);
    times_.pop_front(n);
    const size_t plain = std::min<size_t>(n, plain_);
    plain_ -= static_cast<uint32_t>(plain);
    if (n > plain) sums_->pop_front(n - plain);
  }

  void PopBack(size_t n) {
    times_.pop_back(n);
    const size_t summed = sums_ == nullptr ? 0 : std::min(n, sums_->size());
    if (summed > 0) sums_->pop_back(summed);
    plain_ -= static_cast<uint32_t>(n - summed);
  }

  // Of a log that is of no use any more: its first entries go, of some pieces.
  // False: there are none.
  bool FreeSome() {
    if (size() == 0) return false;
    PopFront(std::min(size(), 16 * Ring<int64_t>::kPiece));
    return true;
  }

  // On the heap.
  size_t bytes() const {
    return times_.bytes() +
           (sums_ == nullptr ? 0 : sizeof(*sums_) + sums_->bytes());
  }

  void Clear() { *this = PackedLog(); }

 private:
  uint32_t plain_ = 0;  // the first entries, of cost 1: their sums follow
  int64_t before_ = 0;  // the sum before the first entry
  Ring<int64_t> times_;
  std::unique_ptr<Ring<int64_t>> sums_;  // of the entries after those
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_PACKED_LOG_H_
