// A queue with random access: what is taken from the front costs nothing.
#ifndef WEIR_BACKENDS_MEMORY_RING_H_
#define WEIR_BACKENDS_MEMORY_RING_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace weir {

// T is small and trivially copyable.
template <class T>
class Ring {
 public:
  size_t size() const { return size_; }
  const T& operator[](size_t i) const {
    return slots_[(head_ + i) & (slots_.size() - 1)];
  }

  void push_back(const T& value) {
    if (size_ == slots_.size()) Resize(size_ == 0 ? 4 : 2 * size_);
    slots_[(head_ + size_) & (slots_.size() - 1)] = value;
    ++size_;
  }

  void pop_front(size_t n) {
    head_ = (head_ + n) & (slots_.empty() ? 0 : slots_.size() - 1);
    size_ -= n;
    Shrink();
  }

  void pop_back(size_t n) {
    size_ -= n;
    Shrink();
  }

  // In bytes, on the heap.
  size_t bytes() const { return slots_.capacity() * sizeof(T); }

 private:
  void Shrink() {
    if (slots_.size() > 16 && size_ < slots_.size() / 8) {
      Resize(slots_.size() / 4);
    }
  }

  void Resize(size_t slots) {
    std::vector<T> next(slots);
    for (size_t i = 0; i < size_; ++i) next[i] = (*this)[i];
    slots_ = std::move(next);
    head_ = 0;
  }

  std::vector<T> slots_;  // a power of two, or none
  size_t head_ = 0;
  size_t size_ = 0;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_RING_H_
