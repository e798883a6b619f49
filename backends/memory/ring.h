// A queue with random access that grows in bounded steps: what is taken from
// the front costs nothing, and no call copies more than 32 KiB.
//
// Up to kWhole elements it is one circular array that grows by a sixteenth, so
// that short logs take little more than their elements; beyond that, pieces of
// kPiece elements.
#ifndef WEIR_BACKENDS_MEMORY_RING_H_
#define WEIR_BACKENDS_MEMORY_RING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace weir {

// T is small and trivially copyable. At most kMost elements. Where there is no
// memory, adding throws as operator new does, and nothing has changed; taking
// away throws nothing.
template <class T>
class Ring {
 public:
  static constexpr size_t kWhole = 32 * 1024 / sizeof(T);
  static constexpr size_t kPiece = kWhole / 16;
  static constexpr size_t kMost = std::numeric_limits<uint32_t>::max() - kPiece;

  Ring() = default;
  ~Ring() { Free(); }
  Ring(Ring&& other) noexcept { Swap(other); }
  Ring& operator=(Ring&& other) noexcept {
    Ring gone(std::move(other));
    Swap(gone);
    return *this;
  }
  Ring(const Ring& other) : Ring() {
    for (size_t i = 0; i < other.size(); ++i) push_back(other[i]);
  }
  Ring& operator=(const Ring&) = delete;

  size_t size() const { return size_; }
  const T& operator[](size_t i) const { return Place(head_ + i); }

  void push_back(const T& value) {
    if (!apart() && size_ == kWhole) TakeApart();
    const size_t at = size_t{head_} + size_;
    if (!apart()) {
      if (size_ == capacity_) {
        Resize(std::min(kWhole, WithRoom()));
        whole()[size_] = value;
      } else {
        whole()[at < capacity_ ? at : at - capacity_] = value;
      }
    } else {
      if (at == pieces()->size() * kPiece) {
        pieces()->push_back(std::make_unique<T[]>(kPiece));
      }
      (*pieces())[at / kPiece][at % kPiece] = value;
    }
    ++size_;
  }

  // It is not empty.
  void set_back(const T& value) { Place(head_ + size_t{size_} - 1) = value; }

  // n <= size().
  void pop_front(size_t n) {
    size_t head = head_ + n;
    size_ -= static_cast<uint32_t>(n);
    if (apart()) {
      for (; head >= kPiece; head -= kPiece) pieces()->pop_front();
    } else if (head >= capacity_) {
      head -= capacity_;
    }
    head_ = static_cast<uint32_t>(head);
    Shrink();
  }

  // n <= size().
  void pop_back(size_t n) {
    size_ -= static_cast<uint32_t>(n);
    if (apart()) {
      const size_t needed = (size_t{head_} + size_ + kPiece - 1) / kPiece;
      // One more is kept, so that coming and going costs nothing.
      while (pieces()->size() > needed + 1) pieces()->pop_back();
    }
    Shrink();
  }

  // On the heap.
  size_t bytes() const {
    return (apart() ? pieces()->size() * kPiece : capacity_) * sizeof(T);
  }

 private:
  using Pieces = std::deque<std::unique_ptr<T[]>>;
  static constexpr uint32_t kApart = std::numeric_limits<uint32_t>::max();

  bool apart() const { return capacity_ == kApart; }
  // The element that is so many places behind the first one's array.
  T& Place(size_t at) const {
    if (apart()) return (*pieces())[at / kPiece][at % kPiece];
    if (at >= capacity_) at -= capacity_;
    return whole()[at];
  }
  T* whole() const { return static_cast<T*>(held_); }
  Pieces* pieces() const { return static_cast<Pieces*>(held_); }

  void Free() {
    if (apart()) {
      delete pieces();
    } else {
      delete[] whole();
    }
  }
  void Swap(Ring& other) {
    std::swap(held_, other.held_);
    std::swap(capacity_, other.capacity_);
    std::swap(head_, other.head_);
    std::swap(size_, other.size_);
  }

  // Without memory for the smaller array it stays as large as it is.
  void Shrink() noexcept {
    try {
      if (apart()) {
        if (size_ < kWhole / 2) Resize(WithRoom());
      } else if (capacity_ > 16 && size_ < capacity_ / 4) {
        Resize(capacity_ / 2);
      }
    } catch (const std::bad_alloc&) {
    }
  }

  // What the elements take, and a sixteenth.
  size_t WithRoom() const { return size_ + std::max<size_t>(4, size_ / 16); }

  // One circular array again, or still.
  void Resize(size_t capacity) {
    std::unique_ptr<T[]> next(new T[capacity]);
    for (size_t i = 0; i < size_; ++i) next[i] = (*this)[i];
    Free();
    held_ = next.release();
    capacity_ = static_cast<uint32_t>(capacity);
    head_ = 0;
  }

  void TakeApart() {
    auto next = std::make_unique<Pieces>();
    for (size_t i = 0; i < size_; ++i) {
      if (i % kPiece == 0) next->push_back(std::make_unique<T[]>(kPiece));
      next->back()[i % kPiece] = (*this)[i];
    }
    Free();
    held_ = next.release();
    capacity_ = kApart;
    head_ = 0;
  }

  // Small: a key holds one. The array, or the pieces if the capacity says so.
  void* held_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t head_ = 0;
  uint32_t size_ = 0;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_RING_H_
