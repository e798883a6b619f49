#include "backends/memory/kept_state.h"

namespace weir {

KeptState::KeptState(OpenKey* key) : key_(key) {
  const char* const state = key->state();
  if (state == nullptr || Table::ValueOf(state) == nullptr) return;
  const Value& value = *Table::ValueOf(state);
  kept_ = value.counted() <= kMostBytes;
  if (!kept_) return;
  value_ = std::make_unique<Value>(value);
  expiry_ = Table::ExpiryOf(state);
  written_ = key->written_under();
}

void KeptState::PutBack() {
  if (!kept_) return;
  if (value_ == nullptr) {
    key_->Drop();
    return;
  }
  const LimitRecord* const asked = key_->record();
  key_->set_record(written_);
  // There is room: what was dropped keeps its own.
  char* const state = key_->Ensure();
  const std::unique_ptr<const Value> faulty(Table::ValueOf(state));
  key_->CountBytes(value_->Recount() -
                   (faulty == nullptr ? 0 : faulty->counted()));
  Table::SetValue(state, value_.release());
  Table::SetExpiry(state, expiry_);
  key_->Written();
  key_->set_record(asked);
}

}  // namespace weir
