// One key of one rule, open in a call that holds its stripe's lock.
#ifndef WEIR_BACKENDS_MEMORY_OPEN_KEY_H_
#define WEIR_BACKENDS_MEMORY_OPEN_KEY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "backends/memory/keeper.h"
#include "backends/memory/record_holds.h"
#include "backends/memory/shared_state.h"

namespace weir {

// What the keys of one call have in common.
struct MemoryCall {
  Keeper* keeper;
  int64_t now;
  bool steady;                    // `now` is of a clock that never jumps
  absl::Span<const size_t> held;  // stripes, ascending, locked

  // For a key of this stripe.
  RoomSeeker SeekerAt(size_t stripe) const {
    return {stripe, held, now, steady};
  }
};

class OpenKey {
 public:
  OpenKey(MemoryCall* call, size_t stripe, const LimitRecord* record,
          uint64_t hash, std::string_view key)
      : call_(call),
        stripe_(stripe),
        record_(record),
        hash_(hash),
        key_(key),
        removals_(table().removals()),
        entry_(table().Find(hash, *record, key)) {
    if (!entry_) return;
    carried_over_ = entry_.slot().record_id() != record_->id;
    if (__builtin_expect(entry_.slot().bound(), 0)) OpenCell();
  }
  ~OpenKey() {
    if (__builtin_expect(cell_ != nullptr, 0)) CloseCell();
    if (kept_ && entry()) entry_.slot().set_held(false);
    if (__builtin_expect(booked_ != nullptr, 0)) {
      table().Unbook(*booked_, key_.size());
    }
    if (reserved_) call_->keeper->Release(1);
  }
  OpenKey(const OpenKey&) = delete;
  OpenKey& operator=(const OpenKey&) = delete;

  // The entry does not leave while this call makes room for others.
  void Keep() {
    if (!entry_) return;
    entry_.slot().set_held(true);
    kept_ = true;
  }

  // Sees to it that a state in another form than that of record() can be
  // written in its form. False: there is no room for that. Throws as operator
  // new does; then nothing has changed.
  bool Book();

  // A key without an entry goes by what such keys of its rule share, if the
  // store has that policy; whose lock is held from here on.
  void Share() {
    if (!known()) shared_ = record_->shared;
  }
  // There is an entry.
  bool known() { return cell_ != nullptr || entry(); }
  // It goes by the shared state, and has no room of its own so far.
  bool shared() const { return shared_ != nullptr; }
  // What it writes goes there.
  bool writes_shared() const { return writes_shared_; }

  // Sees to it that the next write finds room, of its own or in the shared
  // state. False: the store is full.
  bool Reserve() {
    if (entry() || writes_shared_) return true;
    if (reserved_) return HoldOwn();
    if (HoldOwn() && table().HasRoom(*record_, key_)) {
      reserved_ = call_->keeper->Reserve(call_->SeekerAt(stripe_));
    }
    return reserved_ || ReserveShared();
  }
  // The same, in the shared state.
  bool ReserveShared() {
    writes_shared_ =
        shared_ != nullptr && shared_->Takes(*record_, now()) && HoldOwn();
    return writes_shared_;
  }
  // A key that found room of its own leaves the shared state, and starts from a
  // copy of it. Cost: a log is copied whole. Throws as operator new does; then
  // nothing has changed.
  void LeaveShared();

  void CountBytes(int64_t change) {
    if (change != 0) call_->keeper->context().CountBytes(change);
  }

  int64_t now() const { return call_->now; }
  const LimitRecord* record() const { return record_; }
  // Writes from here on are made under this record.
  void set_record(const LimitRecord* record) { record_ = record; }
  // What the value was written under; null if there is none.
  const LimitRecord* written_under() {
    if (state() == nullptr) return nullptr;
    if (shared_ != nullptr) return shared_->written_under();
    return cell_ != nullptr ? written_ : &Named();
  }
  // There was an entry when the call began, and its state was written under
  // another record than the one that is asked. That has to be held before
  // anything is written.
  bool carried_over() const { return carried_over_; }
  // Holds the record that writes are made under. False: it can't be.
  bool HoldOwn() {
    if (holds_.Has(*record_)) return true;
    if (!call_->keeper->Hold(*record_, call_->SeekerAt(stripe_))) {
      return false;
    }
    holds_.Give(*record_);
    return true;
  }
  // A write found no room, and nothing was written.
  bool failed() const { return failed_; }
  // An error, in Redis's words, that an engine left untaken; null: none did.
  const char* fault() const { return fault_; }
  // The first one counts. `error` is a literal.
  void SetFault(const char* error) {
    if (fault_ == nullptr) fault_ = error;
  }
  bool inserted() const { return inserted_; }
  size_t stripe() const { return stripe_; }

  // The state, or null if there is none (a word's, or a general value's that
  // is over too). Valid until the next write or removal.
  char* state() {
    if (__builtin_expect(cell_ != nullptr, 0)) return absent_ ? nullptr : copy_;
    if (__builtin_expect(shared_ != nullptr, 0)) return shared_->state();
    if (!entry()) return nullptr;
    return entry_.state(Named());
  }

  // A state to write to, all zero if it is new. Null: there is no room.
  char* Ensure();
  // The state was written, under record().
  void Written() {
    if (__builtin_expect(cell_ != nullptr, 0)) {
      dirty_ = true;
      written_ = record_;
      return;
    }
    if (__builtin_expect(shared_ != nullptr, 0)) {
      const LimitRecord* const before = shared_->written_under();
      shared_->Written(*record_, now());
      ChangeHold(before, record_);
      return;
    }
    if (entry_.slot().record_id() != record_->id && HoldOwn()) NameEntry();
  }
  // Frees a value that the state had, piece by piece if it is large.
  void Free(std::unique_ptr<Value> value) { table().Free(std::move(value)); }
  // Takes the state away. What is dropped and written again in one call keeps
  // its room.
  void Drop();

 private:
  // The call holds the stripe's lock for as long as its keys are open.
  Table& table() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return call_->keeper->stripe(stripe_).table;
  }

  // A removal may have moved the entry, or taken it.
  Table::Entry& entry() {
    if (__builtin_expect(removals_ != table().removals(), 0)) {
      removals_ = table().removals();
      entry_ = table().Find(hash_, *record_, key_);
    }
    return entry_;
  }

  // The record that the entry names; there is an entry.
  const LimitRecord& Named() {
    const Slot slot = entry_.slot();
    return slot.record_id() == record_->id ? *record_ : table().RecordOf(slot);
  }
  // Is a state that was written under this record in another form than that of
  // record()?
  bool IsOfAnotherForm(const LimitRecord& written) const {
    return written.state_bytes != record_->state_bytes;
  }
  // Books what Ensure then needs for such a state. Throws as Book does.
  void BookFor(const LimitRecord& written);
  // The entry names that record from here on. The call holds it.
  void NameEntry();
  // What was written under one record is under another one from here on, which
  // the call holds; null: it was not, or is not, there.
  void ChangeHold(const LimitRecord* before, const LimitRecord* after);
  void OpenCell();
  void CloseCell();

  MemoryCall* const call_;
  const size_t stripe_;
  const LimitRecord* record_;
  const uint64_t hash_;
  const std::string_view key_;
  uint32_t removals_;
  Table::Entry entry_;
  bool kept_ = false;
  bool reserved_ = false;
  bool failed_ = false;
  bool inserted_ = false;
  bool writes_shared_ = false;
  bool carried_over_ = false;
  const LimitRecord* booked_ = nullptr;  // null: nothing is
  const char* fault_ = nullptr;
  // What a state is let go of stays held to the end of the call: the engine is
  // still given the limit that the state was written under.
  RecordHolds holds_;
  SharedState* shared_ = nullptr;
  // Of a bound key: its cell, held busy, a copy of the state in it, and what
  // that copy was written under.
  bool absent_ = false;
  bool dirty_ = false;
  BoundCell* cell_ = nullptr;
  const LimitRecord* written_ = nullptr;
  uint64_t version_ = 0;
  alignas(8) char copy_[BoundCell::kBytes];
};

inline std::optional<std::string_view> WordTxn::GET() {
  const char* const state = key_->state();
  if (state == nullptr) return std::nullopt;
  const LimitRecord& written = *key_->written_under();
  if (written.word->unpack == nullptr) {
    return std::string_view(state, written.state_bytes);
  }
  written.word->unpack(written.params, state, unpacked_);
  return std::string_view(unpacked_, written.word->whole_bytes);
}
inline void WordTxn::SET(std::string_view value, int64_t /*px*/) {
  char* const state = key_->Ensure();
  if (state == nullptr) return;
  const LimitRecord& record = *key_->record();
  if (record.word->pack == nullptr) {
    std::memcpy(state, value.data(), value.size());
  } else {
    record.word->pack(record.params, value.data(), state);
  }
  key_->Written();
}
inline void WordTxn::DEL() { key_->Drop(); }

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_OPEN_KEY_H_
