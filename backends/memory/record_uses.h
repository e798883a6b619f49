// Who refers to a record of a limit, so that it leaves when nobody does.
//
//  - A handle: the rule as Attach gave it to a limiter, or a binding that was
//    made of it. Who calls by a record has a handle of it.
//  - A hold: an entry that names the record, a cell or a shared state that was
//    written under it, or a call that is about to make one of these or that has
//    just changed one. As long as it is held, a record has an id
//    (RecordTable) by which entries name it.
//
// A record that has neither is gone for good: the first handle comes from the
// store's map of records, under its lock (RecordMap); the first hold needs a
// handle (RecordTable::Hold); each further one is a copy of one that there is.
#ifndef WEIR_BACKENDS_MEMORY_RECORD_USES_H_
#define WEIR_BACKENDS_MEMORY_RECORD_USES_H_

#include <atomic>
#include <cstdint>

#include "absl/base/macros.h"

namespace weir {

// By which entries name a record. It changes while nobody holds the record, so
// it is read where that is known, or under the lock of the stripe whose entries
// it is compared with. There a reading is never too old to be right: an entry
// that names another record by the same id was written, under that lock, after
// the id had been taken away from this one.
class RecordId {
 public:
  static constexpr uint32_t kBits = 20;
  // Is the id of no entry's record, whatever the entry's flags (see Slot).
  static constexpr uint32_t kNone = 1U << 22;

  // relaxed: as said above, the lock orders it, or the hold.
  operator uint32_t() const {  // NOLINT(google-explicit-constructor)
    return value_.load(std::memory_order_relaxed);
  }
  void Set(uint32_t id) { value_.store(id, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> value_{kNone};
};

class RecordUses {
 public:
  // Who calls has a handle, or the lock of the map. relaxed: as for any count
  // of references, a further one needs no order.
  void AddHandle() { handles_.fetch_add(1, std::memory_order_relaxed); }
  // release: pairs with the acquire in HasHandles, so that who sees the last
  // one gone sees what was held by means of it.
  void DropHandle() { handles_.fetch_sub(1, std::memory_order_release); }
  bool HasHandles() const {
    return handles_.load(std::memory_order_acquire) != 0;
  }

  // One more hold, if there is one. acquire: pairs with the release in
  // AddFirst; who holds a record sees its id, and so does whoever finds that in
  // an entry later.
  bool TryAdd() {
    int64_t held = held_.load(std::memory_order_relaxed);
    while (held > 0) {
      if (held_.compare_exchange_weak(held, held + 1, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  // One more, where there is one. relaxed: see AddHandle.
  void Add() {
    const int64_t held = held_.fetch_add(1, std::memory_order_relaxed);
    ABSL_ASSERT(held > 0);
    static_cast<void>(held);
  }
  // The first one: under the lock of the ids, the id is set. A change and not a
  // store: who sees a later count still sees what the earlier Drops released.
  void AddFirst() { held_.fetch_add(1, std::memory_order_release); }
  // release: pairs with the acquire in Held. Who sees the last hold gone may
  // give the id away, or free the record: nobody reads it by that any more.
  void Drop() { held_.fetch_sub(1, std::memory_order_release); }
  bool Held() const { return held_.load(std::memory_order_acquire) != 0; }

 private:
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> handles_{0};
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_RECORD_USES_H_
