// Where the pieces of an array lie. Who holds the array's lock reads and writes
// the list; anybody may glimpse at it, to ask for memory early.
#ifndef WEIR_BACKENDS_MEMORY_PIECE_LIST_H_
#define WEIR_BACKENDS_MEMORY_PIECE_LIST_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/base/attributes.h"

namespace weir {

class PieceList {
 public:
  PieceList() = default;
  PieceList(const PieceList&) = delete;
  PieceList& operator=(const PieceList&) = delete;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // relaxed, here and below: the lock orders what its holders read and write.
  ABSL_ATTRIBUTE_ALWAYS_INLINE char* operator[](size_t i) const {
    return pieces_.load(std::memory_order_relaxed)[i].load(
        std::memory_order_relaxed);
  }
  char* back() const { return (*this)[size_ - 1]; }

  // The next Push does not throw; this does, as operator new does.
  void Reserve() {
    if (size_ < room_) return;
    const size_t twice = 2 * room_;
    auto room = std::make_unique<Room>();
    room->pieces = std::make_unique<std::atomic<char*>[]>(twice);
    for (size_t i = 0; i < size_; ++i) {
      room->pieces[i].store((*this)[i], std::memory_order_relaxed);
    }
    room->before = std::move(owned_);
    owned_ = std::move(room);
    room_ = twice;
    // release: who glimpses at the room sees what is in it.
    pieces_.store(owned_->pieces.get(), std::memory_order_release);
  }
  void Push(char* piece) {
    pieces_.load(std::memory_order_relaxed)[size_++].store(
        piece, std::memory_order_relaxed);
  }
  void Pop() { --size_; }

  // For who does not hold the lock: where piece i lies or has lain, or null. It
  // may be gone: good for a prefetch only, which asks for nothing that is not
  // mapped. This thread has seen (by an acquire load) that there was a piece i.
  ABSL_ATTRIBUTE_ALWAYS_INLINE const char* Glimpse(size_t i) const {
    return pieces_.load(std::memory_order_acquire)[i].load(
        std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kFew = 8;

  // What it outgrows it keeps: somebody may still be glimpsing at it. Each room
  // has twice the size of the one before, so that all take twice the last.
  struct Room {
    std::unique_ptr<std::atomic<char*>[]> pieces;
    std::unique_ptr<Room> before;
  };

  // The first ones here, so that a short list takes no room apart.
  std::atomic<std::atomic<char*>*> pieces_{few_};
  std::atomic<char*> few_[kFew] = {};
  size_t size_ = 0;
  size_t room_ = kFew;  // for so many
  std::unique_ptr<Room> owned_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_PIECE_LIST_H_
