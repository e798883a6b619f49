#include "backends/memory/open_key.h"

#include <memory>

#include "absl/base/macros.h"

namespace weir {

void OpenKey::NameEntry() {
  Slot slot = entry_.slot();
  const LimitRecord& before = table().RecordOf(slot);
  slot.set_record_id(record_->id);
  ChangeHold(&before, record_);
}

void OpenKey::ChangeHold(const LimitRecord* before, const LimitRecord* after) {
  if (before == after) return;
  if (after != nullptr) holds_.Take(*after);
  if (before != nullptr) holds_.Give(*before);
}

char* OpenKey::Ensure() {
  if (cell_ != nullptr) {
    if (absent_) std::memset(copy_, 0, sizeof(copy_));
    absent_ = false;
    dirty_ = true;
    return copy_;
  }
  if (shared_ != nullptr) {
    ABSL_ASSERT(writes_shared_);
    const LimitRecord* const before = shared_->written_under();
    char* const state = shared_->Ensure(*record_);
    ChangeHold(before, shared_->written_under());
    return state;
  }
  if (!entry()) {
    if (failed_ || !Reserve()) {
      failed_ = true;
      return nullptr;
    }
    entry_ = table().Insert(hash_, *record_, key_);
    holds_.Take(*record_);
    removals_ = table().removals();
    reserved_ = false;
    inserted_ = true;
  } else if (const LimitRecord& named = Named(); IsOfAnotherForm(named)) {
    ABSL_ASSERT(booked_ == record_ && holds_.Has(*record_));
    entry_ =
        table().Refit(hash_, entry_, named.state_bytes, record_->state_bytes);
    removals_ = table().removals();  // Written names it
  }
  return entry_.state(*record_);
}

bool OpenKey::Book() {
  const LimitRecord* const written = written_under();
  if (written == nullptr || cell_ != nullptr || !IsOfAnotherForm(*written)) {
    return true;
  }
  if (!table().HasRoom(*record_, key_)) return false;
  BookFor(*written);
  return true;
}

void OpenKey::BookFor(const LimitRecord& written) {
  if (booked_ != nullptr || !IsOfAnotherForm(written)) return;
  table().Book(*record_, key_.size());
  booked_ = record_;
}

void OpenKey::Drop() {
  if (cell_ != nullptr) {
    absent_ = true;
    dirty_ = true;
    // The next state is written under this record, if it keeps one.
    if (record_->check_in_place != nullptr) written_ = record_;
    return;
  }
  if (shared_ != nullptr) {
    ABSL_ASSERT(writes_shared_);
    const LimitRecord* const before = shared_->written_under();
    Free(shared_->Drop());
    ChangeHold(before, nullptr);
    return;
  }
  if (!entry()) return;
  const LimitRecord& before = table().RecordOf(entry_.slot());
  before.uses.Add();
  holds_.Give(before);
  table().Remove(hash_, entry_);
  removals_ = table().removals();
  entry_ = {};
  kept_ = false;
  reserved_ = true;
}

void OpenKey::LeaveShared() {
  if (shared_ == nullptr || !reserved_) return;
  SharedState& from = *shared_;
  if (from.InUse(now())) {
    std::unique_ptr<Value> value = from.CopyValue();
    const LimitRecord& written = *from.written_under();
    BookFor(written);
    entry_ = table().Insert(hash_, written, key_);
    written.uses.Add();
    removals_ = table().removals();
    reserved_ = false;
    inserted_ = true;
    char* const state = entry_.state(written);
    std::memcpy(state, from.state(), written.state_bytes);
    SharedState::OpenWindow(written, now(), state);
    if (value != nullptr) {
      CountBytes(value->Recount());
      Table::SetValue(state, value.release());
    }
  }
  shared_ = nullptr;
}

// The entry of a bound key holds a pointer to its cell.
void OpenKey::OpenCell() {
  cell_ = LoadPointer<BoundCell>(entry_.state(Named()));
  version_ = cell_->Lock();
  written_ = cell_->record();
  absent_ = !cell_->Load<sizeof(copy_)>(copy_);
  carried_over_ = written_ != record_;
}

void OpenKey::CloseCell() {
  if (dirty_) {
    cell_->Store(absent_ ? nullptr : copy_, written_->state_bytes);
    ChangeHold(cell_->record(), written_);
    cell_->set_record(written_);
  }
  cell_->Unlock(version_);
}

}  // namespace weir
