// A queue in one block of memory whose entries keep their number: the first
// one ever pushed is 0. Pushing and popping allocate only to grow.
#ifndef WEIR_BACKENDS_REDIS_FIFO_H_
#define WEIR_BACKENDS_REDIS_FIFO_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/base/macros.h"

namespace weir::redis {

template <class T>
class Fifo {
 public:
  bool empty() const { return begin_ == end_; }
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  // The numbers of the first entry and of the one that comes next.
  uint64_t begin_number() const { return begin_; }
  uint64_t end_number() const { return end_; }

  bool Has(uint64_t number) const { return number >= begin_ && number < end_; }
  T& At(uint64_t number) {
    ABSL_ASSERT(Has(number));
    return ring_[Place(number)];
  }
  T& front() { return At(begin_); }

  uint64_t Push(T value) {
    if (size() == ring_.size()) Grow();
    ring_[Place(end_)] = std::move(value);
    return end_++;
  }
  T Pop() {
    T value = std::move(front());
    ++begin_;
    return value;
  }
  // The one that was pushed last; its number is given again.
  T PopBack() {
    T value = std::move(At(end_ - 1));
    --end_;
    return value;
  }

 private:
  size_t Place(uint64_t number) const {
    return static_cast<size_t>(number) & (ring_.size() - 1);
  }
  void Grow() {
    std::vector<T> larger(ring_.empty() ? 16 : ring_.size() * 2);
    for (uint64_t n = begin_; n != end_; ++n) {
      larger[static_cast<size_t>(n) & (larger.size() - 1)] =
          std::move(ring_[Place(n)]);
    }
    ring_ = std::move(larger);
  }

  std::vector<T> ring_;  // a power of two
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_FIFO_H_
