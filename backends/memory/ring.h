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
#include <memory>

namespace weir {

// T is small and trivially copyable.
template <class T>
class Ring {
 public:
  static constexpr size_t kWhole = 32 * 1024 / sizeof(T);
  static constexpr size_t kPiece = kWhole / 16;

  size_t size() const { return size_; }
  const T& operator[](size_t i) const {
    size_t at = head_ + i;
    if (pieces_ != nullptr) return (*pieces_)[at / kPiece][at % kPiece];
    if (at >= capacity_) at -= capacity_;
    return whole_[at];
  }

  void push_back(const T& value) {
    if (pieces_ == nullptr && size_ == kWhole) TakeApart();
    if (pieces_ == nullptr) {
      if (size_ == capacity_) {
        Resize(std::min(kWhole, WithRoom()));
      }
      const size_t at = head_ + size_;
      whole_[at < capacity_ ? at : at - capacity_] = value;
    } else {
      const size_t at = head_ + size_;
      if (at == pieces_->size() * kPiece) {
        pieces_->push_back(std::make_unique<T[]>(kPiece));
      }
      (*pieces_)[at / kPiece][at % kPiece] = value;
    }
    ++size_;
  }

  // n <= size().
  void pop_front(size_t n) {
    head_ += n;
    size_ -= n;
    if (pieces_ != nullptr) {
      for (; head_ >= kPiece; head_ -= kPiece) pieces_->pop_front();
    } else if (head_ >= capacity_) {
      head_ -= capacity_;
    }
    Shrink();
  }

  // n <= size().
  void pop_back(size_t n) {
    size_ -= n;
    if (pieces_ != nullptr) {
      const size_t needed = (head_ + size_ + kPiece - 1) / kPiece;
      // One more is kept, so that coming and going costs nothing.
      while (pieces_->size() > needed + 1) pieces_->pop_back();
    }
    Shrink();
  }

  // On the heap.
  size_t bytes() const {
    return pieces_ != nullptr ? pieces_->size() * kPiece * sizeof(T)
                              : capacity_ * sizeof(T);
  }

 private:
  using Pieces = std::deque<std::unique_ptr<T[]>>;

  void Shrink() {
    if (pieces_ != nullptr) {
      if (size_ >= kWhole / 2) return;
      Resize(WithRoom());
      pieces_.reset();
    } else if (capacity_ > 16 && size_ < capacity_ / 4) {
      Resize(capacity_ / 2);
    }
  }

  // What the elements take, and a sixteenth.
  size_t WithRoom() const { return size_ + std::max<size_t>(4, size_ / 16); }

  // One circular array again, or still.
  void Resize(size_t capacity) {
    std::unique_ptr<T[]> next(new T[capacity]);
    for (size_t i = 0; i < size_; ++i) next[i] = (*this)[i];
    whole_ = std::move(next);
    capacity_ = static_cast<uint32_t>(capacity);
    head_ = 0;
  }

  void TakeApart() {
    auto pieces = std::make_unique<Pieces>();
    for (size_t i = 0; i < size_; ++i) {
      if (i % kPiece == 0) pieces->push_back(std::make_unique<T[]>(kPiece));
      pieces->back()[i % kPiece] = (*this)[i];
    }
    whole_.reset();
    capacity_ = 0;
    head_ = 0;
    pieces_ = std::move(pieces);
  }

  std::unique_ptr<T[]> whole_;  // or
  std::unique_ptr<Pieces> pieces_;
  uint32_t capacity_ = 0;
  size_t head_ = 0;
  size_t size_ = 0;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_RING_H_
