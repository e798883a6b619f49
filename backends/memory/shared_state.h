// The state that keys of one rule share while the store has no room for them:
// see WhenFull::kShare in weir/memory_store.h.
//
// It is what the engine makes of all their calls together, so it is at least as
// strict as the state that each key would have of its own: every built-in
// engine admits less, and stays used longer, the more it was charged. (An
// engine whose window opens with a key's first call says with `Shared` what
// keeps that true, and with `CanShare` whether anything does.) It is only ever
// charged under one limit until it equals a fresh key: under another one a
// carried-over state could drain faster than some key's own.
//
// Not thread safe: the lock of the store's shared states is held.
#ifndef WEIR_BACKENDS_MEMORY_SHARED_STATE_H_
#define WEIR_BACKENDS_MEMORY_SHARED_STATE_H_

#include <cstdint>
#include <cstring>
#include <memory>

#include "backends/memory/bound_cell.h"
#include "backends/memory/table.h"

namespace weir {

class SharedState {
 public:
  SharedState() = default;
  ~SharedState() { delete value(); }
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  // Null: there is none.
  char* state() { return written_ == nullptr ? nullptr : bytes_; }
  // What it was written under; null if there is none.
  const LimitRecord* written_under() const { return written_; }
  // It differs from a fresh key at this time.
  bool InUse(int64_t now) const {
    return written_ != nullptr && !Table::IsOver(*written_, bytes_, now);
  }
  // May it be charged under this limit?
  bool Takes(const LimitRecord& record, int64_t now) const {
    return record.charges_shared && (written_ == &record || !InUse(now));
  }

  // A state to write to, all zero if it is new.
  char* Ensure(const LimitRecord& record) {
    if (written_ == nullptr) {
      std::memset(bytes_, 0, sizeof(bytes_));
      written_ = &record;
    }
    return bytes_;
  }
  // It was written under this record, at `now`.
  void Written(const LimitRecord& record, int64_t now) {
    written_ = &record;
    OpenWindow(record, now, bytes_);
  }
  // The state becomes one that is not over before any that a charge at `now`
  // would begin.
  static void OpenWindow(const LimitRecord& record, int64_t now, char* state) {
    if (record.check_in_place != nullptr && record.word->share != nullptr) {
      record.word->share(record.params, state, now);
    }
  }
  // Returns its value, which is still counted; null: it has none on the heap.
  std::unique_ptr<Value> Drop() {
    std::unique_ptr<Value> gone(value());
    written_ = nullptr;
    return gone;
  }

  // A copy of the value, for a key that gets a state of its own; null if it has
  // none on the heap.
  std::unique_ptr<Value> CopyValue() const {
    const Value* held = value();
    if (held == nullptr) return nullptr;
    return std::make_unique<Value>(*held);
  }

 private:
  Value* value() const {
    return written_ == nullptr || written_->word != nullptr
               ? nullptr
               : Table::ValueOf(bytes_);
  }

  const LimitRecord* written_ = nullptr;
  alignas(8) char bytes_[BoundCell::kBytes];
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_SHARED_STATE_H_
