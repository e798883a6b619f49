// An array that grows and shrinks at its end in bounded steps: elements never
// move because of it, and no step touches more than one new piece.
//
// The first pieces are small (an array of few elements takes little), the
// others blocks of 512 elements.
//
// Not thread safe, but for Glimpse: the lock of its stripe is held.
#ifndef WEIR_BACKENDS_MEMORY_DENSE_ARRAY_H_
#define WEIR_BACKENDS_MEMORY_DENSE_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <new>

#include "absl/base/attributes.h"
#include "backends/memory/block_pool.h"
#include "backends/memory/piece_list.h"

namespace weir {

class DenseArray {
 public:
  static constexpr uint32_t kBlockElements = 512;
  static constexpr size_t kMaxStride =
      BlockPool::kMostPages * BlockPool::kPage / kBlockElements;

  // `stride`: bytes an element, a multiple of 8, at most kMaxStride.
  DenseArray(BlockPool* pool, size_t stride) : stride_(stride), pool_(pool) {}
  ~DenseArray() {
    while (!pieces_.empty()) DropPiece();
  }
  DenseArray(const DenseArray&) = delete;
  DenseArray& operator=(const DenseArray&) = delete;

  uint32_t size() const { return size_; }
  size_t stride() const { return stride_; }
  // What its pieces take, in bytes.
  size_t bytes() const { return bytes_; }

  // i < size().
  ABSL_ATTRIBUTE_ALWAYS_INLINE char* operator[](uint32_t i) const {
    return At(i, stride_);
  }
  // The same, for who knows the stride without reading it here.
  ABSL_ATTRIBUTE_ALWAYS_INLINE char* At(uint32_t i, size_t stride) const {
    const Place place = PlaceOf(i);
    return pieces_[place.piece] + place.element * stride;
  }
  // Where element i lies or has lain, or nowhere; there was such an element:
  // see PieceList. Needs no lock. Counted in integers, since there may be no
  // such piece.
  ABSL_ATTRIBUTE_ALWAYS_INLINE const void* Glimpse(uint32_t i,
                                                   size_t stride) const {
    const Place place = PlaceOf(i);
    return reinterpret_cast<const void*>(
        reinterpret_cast<uintptr_t>(pieces_.Glimpse(place.piece)) +
        place.element * stride);
  }

  // A new last element, its bytes whatever they are. The array must be below
  // 2^28 elements. Throws as operator new does; then nothing has changed.
  char* Append() {
    if (size_ == capacity_) AddPiece();
    return (*this)[size_++];
  }
  // The next Append, unless a Pop comes before it, does not throw, and takes
  // nothing that was booked; this does throw.
  void Reserve() {
    while (capacity_ - size_ <= booked_) AddPiece();
  }
  // One Append, whatever comes before it, does not throw until this is undone.
  // Throws as operator new does; then nothing is booked.
  void Book() {
    Reserve();
    ++booked_;
  }
  void Unbook() {
    --booked_;
    DropSpare();
  }

  // Takes the last element away. A piece goes when the one before it is no
  // more than half full, so that coming and going costs nothing.
  void Pop() {
    --size_;
    if (MayDrop() && HasSpare()) DropPiece();
  }

  // Until it is released no Pop gives memory back, so that as many Appends as
  // there were Pops do not throw.
  void Hold() { held_ = true; }
  void Release() {
    held_ = false;
    DropSpare();
  }

 private:
  static constexpr uint32_t kFirst = 16;
  static constexpr uint32_t kSmallPieces = 6;  // 16, 16, 32, 64, 128, 256

  struct Place {
    uint32_t piece;
    uint32_t element;
  };
  ABSL_ATTRIBUTE_ALWAYS_INLINE static Place PlaceOf(uint32_t i) {
    if (__builtin_expect(i >= kBlockElements, 1)) {
      return {i / kBlockElements + kSmallPieces - 1, i % kBlockElements};
    }
    if (i < kFirst) return {0, i};
    // Piece p holds [kFirst << (p - 1), kFirst << p).
    const uint32_t p = 32 - static_cast<uint32_t>(__builtin_clz(i / kFirst));
    return {p, i - (kFirst << (p - 1))};
  }

  // Elements of the first n pieces.
  static uint32_t CapacityOf(size_t n) {
    if (n == 0) return 0;
    if (n <= kSmallPieces) return kFirst << (n - 1);
    return static_cast<uint32_t>(n - kSmallPieces + 1) * kBlockElements;
  }
  uint32_t PieceElements() const {
    return CapacityOf(pieces_.size()) - CapacityOf(pieces_.size() - 1);
  }
  uint32_t PieceBefore() const {
    return CapacityOf(pieces_.size() - 1) - CapacityOf(pieces_.size() - 2);
  }

  bool MayDrop() const { return !held_ && booked_ == 0; }
  void DropSpare() {
    while (MayDrop() && !pieces_.empty() && HasSpare()) DropPiece();
  }
  // The last piece is not needed.
  bool HasSpare() const {
    const uint32_t last = capacity_ - PieceElements();
    return size_ <= last - (last == 0 ? 0 : PieceBefore() / 2);
  }

  size_t BlockPages() const {
    static_assert(kBlockElements * 8 == BlockPool::kPage);
    return stride_ / 8;
  }

  void AddPiece() {
    const size_t n = pieces_.size();
    pieces_.Reserve();
    const size_t bytes = (CapacityOf(n + 1) - CapacityOf(n)) * stride_;
    pieces_.Push(static_cast<char*>(
        n < kSmallPieces ? ::operator new (bytes, std::align_val_t{64})
                         : pool_->Take(BlockPages())));
    capacity_ = CapacityOf(n + 1);
    bytes_ += bytes;
  }

  void DropPiece() {
    const size_t n = pieces_.size();
    bytes_ -= (CapacityOf(n) - CapacityOf(n - 1)) * stride_;
    if (n <= kSmallPieces) {
      ::operator delete (pieces_.back(), std::align_val_t{64});
    } else {
      pool_->Give(pieces_.back(), BlockPages());
    }
    pieces_.Pop();
    capacity_ = CapacityOf(n - 1);
  }

  PieceList pieces_;  // first: see Stripe
  const size_t stride_;
  BlockPool* const pool_;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  bool held_ = false;
  uint32_t booked_ = 0;
  size_t bytes_ = 0;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_DENSE_ARRAY_H_
