#include "backends/memory/table.h"

#include <algorithm>
#include <utility>

namespace weir {

Table::~Table() {
  for (const std::unique_ptr<DenseArray>& array : arrays_) {
    if (array == nullptr) continue;
    for (uint32_t i = 0; i < array->size(); ++i) {
      Slot slot((*array)[i]);
      const LimitRecord& record = RecordOf(slot);
      if (slot.bound()) {
        delete LoadPointer<BoundCell>(
            slot.at(array->stride() - record.state_bytes));
      } else if (record.word == nullptr) {
        delete ValueOf(slot.at(array->stride() - record.state_bytes));
      }
      slot.FreeKey();
    }
  }
}

Table::Entry Table::FindPlainApart(uint64_t hash, const LimitRecord& record,
                                   std::string_view key) const {
  const Entry found = Find(hash, record, key);
  return found && found.slot().IsPlain(record.id) ? found : Entry();
}

bool Table::MatchesOther(Slot slot, const LimitRecord& record,
                         std::string_view key) const {
  return RecordOf(slot).state_id == record.state_id && slot.key() == key;
}

Table::Entry Table::Insert(uint64_t hash, const LimitRecord& record,
                           std::string_view key) {
  const size_t bytes = Slot::BytesFor(key.size(), record.state_bytes);
  const auto size = static_cast<uint32_t>(bytes / 8 - 1);
  DenseArray& array = ArrayOf(bytes);
  std::unique_ptr<char[]> apart;
  if (Slot::LiesApart(key.size(), record.state_bytes)) {
    apart = LongKey::Make(hash, key);
  }
  array.Reserve();
  // The index comes last to need memory and first to know the entry, whose
  // place is set. It asks for hashes of entries that it holds, not of this one.
  const uint32_t ref = size << kIndexBits | array.size();
  index_.Insert(
      hash, ref, [this](uint32_t held) { return HashOf(Slot(At(held))); },
      [this](uint32_t held) __attribute__((always_inline)) {
        PrefetchEntry(At(held), BytesOf(held));
      });
  const Entry entry = {array.Append(), ref};
  used_ |= 1U << size;
  entry.slot().Make(record, key, bytes, std::move(apart));
  context_->CountBytes(CountOf(entry.slot(), bytes));
  return entry;
}

void Table::Remove(uint64_t hash, Entry entry) {
  const auto hash_of = [this](uint32_t ref) { return HashOf(Slot(At(ref))); };
  index_.Erase(hash, entry.ref, hash_of);
  const LimitRecord& record = RecordOf(entry.slot());
  if (record.word == nullptr) {
    Free(std::unique_ptr<Value>(ValueOf(entry.state(record))));
  }
  context_->CountBytes(-CountOf(entry.slot(), entry.bytes()));
  entry.slot().FreeKey();
  Vacate(entry);
  // Last: without a hold the record may be gone at once.
  record.uses.Drop();
}

void Table::Free(std::unique_ptr<Value> value) {
  if (value == nullptr) return;
  context_->CountBytes(value->large() ? dead_.Add(std::move(value))
                                      : -value->counted());
}

Table::Entry Table::Refit(uint64_t hash, Entry entry, size_t from, size_t to) {
  const size_t key_bytes = entry.bytes() - from;
  const auto size = static_cast<uint32_t>((key_bytes + to) / 8 - 1);
  DenseArray& array = *arrays_[size];
  const uint32_t ref = size << kIndexBits | array.size();
  const Entry fitting = {array.Append(), ref};
  used_ |= 1U << size;
  std::memcpy(fitting.p, entry.p, key_bytes);
  index_.Replace(hash, entry.ref, ref);
  context_->CountBytes(static_cast<int64_t>(to) - static_cast<int64_t>(from));
  Vacate(entry);
  return fitting;
}

void Table::Vacate(Entry entry) {
  DenseArray& array = *arrays_[entry.ref >> kIndexBits];
  const uint32_t last =
      (entry.ref >> kIndexBits) << kIndexBits | (array.size() - 1);
  if (entry.ref != last) {
    index_.Replace(HashOf(Slot(At(last))), last, entry.ref);
    std::memcpy(entry.p, At(last), array.stride());
  }
  array.Pop();
  if (array.size() == 0) used_ &= ~(1U << (entry.ref >> kIndexBits));
  ++removals_;
}

Table::Entry Table::Next() {
  if (used_ == 0) return {};
  const uint32_t here = 1U << visit_size_;
  if ((used_ & here) != 0) {
    // What was added since lies at the end, and what left made it shorter.
    visit_left_ = std::min(visit_left_, arrays_[visit_size_]->size());
  } else {
    visit_left_ = 0;
  }
  if (visit_left_ == 0) {
    // The next array that has entries, or the first one of all.
    const uint32_t later = used_ & ~(here | (here - 1));
    visit_size_ =
        static_cast<uint32_t>(__builtin_ctz(later != 0 ? later : used_));
    visit_left_ = arrays_[visit_size_]->size();
  }
  const uint32_t ref = visit_size_ << kIndexBits | --visit_left_;
  return {At(ref), ref};
}

}  // namespace weir
