// The state of a key that a handle is bound to (Limiter::Bind): it lies apart
// from its entry, so that it never moves, and has a lock of its own, so that
// the handle decides without the stripe's.
//
// The lock is a sequence lock: an even version is free, an odd one is busy.
//  - A handle reads the version, the state and the version again: if that is
//    the same, the state is whole, and only then does an engine see it. It
//    decides, and, if it charges, makes the version busy by a compare-and-swap
//    from the very version it read: nothing has changed since. It stores the
//    new state and a new even version. A denial only reads.
//  - A call under the stripe's lock (several rules, Update, Reset, Refund, a
//    call by key) holds the version busy for as long as it has the key open.
//    It works on a copy and stores that at the end.
//  - Eviction and expiry pass by a bound entry; moving an entry moves only the
//    pointer to the cell. So neither touches it.
// tests/model/ models this: who changes one changes the other.
#ifndef WEIR_BACKENDS_MEMORY_BOUND_CELL_H_
#define WEIR_BACKENDS_MEMORY_BOUND_CELL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "backends/memory/spin_lock.h"

namespace weir {

class LimitRecord;

// Word by word: the compiler would make one vector of two words that were just
// computed, and the processor would wait for them.
inline void StoreWords(char* to, const void* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 8) {
    int64_t word;
    std::memcpy(&word, static_cast<const char*>(from) + i, sizeof(word));
    std::memcpy(to + i, &word, sizeof(word));
  }
}

class alignas(64) BoundCell {
 public:
  static constexpr size_t kWords = 5;
  static constexpr size_t kBytes = kWords * 8;
  // In the first word: there is no state, the key is fresh. No engine's state
  // begins with it: a time or the number of a slot is far from it.
  static constexpr int64_t kAbsent = std::numeric_limits<int64_t>::min();

  // Without a state.
  explicit BoundCell(const LimitRecord* record) { Fill(record, nullptr, 0); }
  // Before anybody else knows it.
  void Fill(const LimitRecord* record, const char* state, size_t bytes) {
    Store(state, bytes);
    record_.store(record, std::memory_order_relaxed);
  }

  // The version, even, or busy: then try again. acquire: pairs with the
  // release in Unlock, so that the state read after it is at least as new.
  uint64_t Version() const { return version_.load(std::memory_order_acquire); }
  static bool Busy(uint64_t version) { return (version & 1) != 0; }

  // What the state was written under. acquire: as in Load.
  const LimitRecord* record() const {
    return record_.load(std::memory_order_acquire);
  }

  // Copies the state. acquire: each word pairs with the release store in
  // Store. Who reads a word of a later writer also sees that writer's busy
  // version, and Unchanged tells.
  template <size_t kBytes>
  bool Load(void* state) const {
    int64_t words[kBytes / 8];
    for (size_t i = 0; i < kBytes / 8; ++i) {
      words[i] = words_[i].load(std::memory_order_acquire);
    }
    std::memcpy(state, words, kBytes);
    return words[0] != kAbsent;
  }
  // relaxed: the loads above are acquire, so this one stays below them.
  bool Unchanged(uint64_t version) const {
    return version_.load(std::memory_order_relaxed) == version;
  }

  // Makes the cell busy if it still has this version. acquire: the stores of
  // the new state stay below it; pairs with the release in Unlock.
  bool TryLock(uint64_t version) {
    return version_.compare_exchange_strong(version, version + 1,
                                            std::memory_order_acquire,
                                            std::memory_order_relaxed);
  }
  // Waits for the cell; gives the version to hand to Unlock.
  uint64_t Lock() {
    for (Patience patience;; patience.Wait()) {
      const uint64_t version = version_.load(std::memory_order_relaxed);
      if (!Busy(version) && TryLock(version)) return version;
    }
  }
  // release: whoever reads the new version sees the new state.
  void Unlock(uint64_t version) {
    version_.store(version + 2, std::memory_order_release);
  }

  // The cell is busy. release: see Load.
  void Store(const char* state, size_t bytes) {
    if (state == nullptr) {
      words_[0].store(kAbsent, std::memory_order_release);
      return;
    }
    for (size_t i = 0; i < bytes / 8; ++i) {
      int64_t word;
      std::memcpy(&word, state + 8 * i, sizeof(word));
      words_[i].store(word, std::memory_order_release);
    }
  }
  void set_record(const LimitRecord* record) {
    record_.store(record, std::memory_order_release);
  }

 private:
  std::atomic<uint64_t> version_{0};
  std::atomic<const LimitRecord*> record_{nullptr};
  std::atomic<int64_t> words_[kWords] = {};

 public:
  // Handles that share it. Under the stripe's lock.
  int handles = 0;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_BOUND_CELL_H_
