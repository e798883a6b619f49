#include "backends/memory/open_key.h"

#include <memory>

#include "absl/base/macros.h"

namespace weir {

CellRule CellRuleOf(const LimitRecord& record) {
  return {record.params, record.counts_denied};
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
    return shared_->Ensure(*record_);
  }
  if (!entry()) {
    if (failed_ || !Reserve()) {
      failed_ = true;
      return nullptr;
    }
    entry_ = table().Insert(hash_, *record_, key_);
    removals_ = table().removals();
    reserved_ = false;
    inserted_ = true;
  }
  return entry_.state(*record_);
}

void OpenKey::Drop() {
  if (cell_ != nullptr) {
    absent_ = true;
    dirty_ = true;
    // The next state is written under this record, if it keeps one.
    if (record_->hot != nullptr) written_ = record_;
    return;
  }
  if (shared_ != nullptr) {
    ABSL_ASSERT(writes_shared_);
    CountBytes(-shared_->Drop());
    return;
  }
  if (!entry()) return;
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
    entry_ = table().Insert(hash_, *record_, key_);
    removals_ = table().removals();
    reserved_ = false;
    inserted_ = true;
    entry_.slot().set_record_id(from.written_under()->id);
    char* const state = entry_.state(*record_);
    std::memcpy(state, from.state(), record_->state_bytes);
    SharedState::OpenWindow(*from.written_under(), now(), state);
    if (value != nullptr) {
      CountBytes(value->Recount());
      Table::SetValue(state, value.release());
    }
  }
  shared_ = nullptr;
}

// The entry of a bound key holds a pointer to its cell.
void OpenKey::OpenCell() {
  cell_ = LoadPointer<BoundCell>(entry_.state(*record_));
  version_ = cell_->Lock();
  written_ = cell_->record();
  absent_ = !cell_->Load<sizeof(copy_)>(copy_);
}

void OpenKey::CloseCell() {
  if (dirty_) {
    cell_->Store(absent_ ? nullptr : copy_, record_->state_bytes);
    cell_->set_record(written_);
  }
  cell_->Unlock(version_);
}

}  // namespace weir
