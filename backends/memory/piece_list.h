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
    return pieces_[i].load(std::memory_order_relaxed);
  }
  char* back() const { return (*this)[size_ - 1]; }

  // The next Push does not throw; this does, as operator new does.
  void Reserve() {
    if (size_ < room_->size) return;
    auto room = std::make_unique<Room>();
    room->size = 2 * room_->size;
    room->owned = std::make_unique<std::atomic<char*>[]>(room->size);
    room->pieces = room->owned.get();
    for (size_t i = 0; i < size_; ++i) {
      room->pieces[i].store((*this)[i], std::memory_order_relaxed);
    }
    pieces_ = room->pieces;
    room->before = std::move(room_);
    room_ = std::move(room);
    // release: who glimpses at the room sees its size and what is in it.
    glimpsed_.store(room_.get(), std::memory_order_release);
  }
  void Push(char* piece) {
    pieces_[size_++].store(piece, std::memory_order_relaxed);
  }
  void Pop() { --size_; }

  // For who does not hold the lock: where piece i lies or has lain, or null. It
  // may be gone: good for a prefetch only, which asks for nothing that is not
  // mapped.
  ABSL_ATTRIBUTE_ALWAYS_INLINE const char* Glimpse(size_t i) const {
    const Room* const room = glimpsed_.load(std::memory_order_acquire);
    if (i >= room->size) return nullptr;
    return room->pieces[i].load(std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kFew = 8;

  // What it outgrows it keeps: somebody may still be glimpsing at it. Each room
  // has twice the size of the one before, so that all take twice the last.
  struct Room {
    size_t size = 0;
    std::atomic<char*>* pieces = nullptr;
    std::unique_ptr<std::atomic<char*>[]> owned;
    std::unique_ptr<Room> before;
  };
  std::unique_ptr<Room> FirstRoom() {
    auto room = std::make_unique<Room>();
    room->size = kFew;
    room->pieces = few_;
    return room;
  }

  size_t size_ = 0;
  // The first ones here, so that finding one takes a load less.
  std::atomic<char*> few_[kFew] = {};
  std::atomic<char*>* pieces_ = few_;
  std::unique_ptr<Room> room_ = FirstRoom();
  std::atomic<const Room*> glimpsed_{room_.get()};
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_PIECE_LIST_H_
