#include "backends/memory/record_table.h"

namespace weir {
namespace {

// How many records are looked at for each one that gets an id, so that most
// of the free ones are known before they run out; and how many then.
constexpr int kRecordsAnId = 4;
constexpr int kRecordsForAnId = 16;

}  // namespace

bool RecordTable::HoldFirst(const LimitRecord& record) {
  const SpinLockHolder lock(&mutex_);
  // The count leaves 0 under this lock alone.
  if (record.uses.TryAdd()) return true;
  if (record.id == RecordId::kNone) {
    uint32_t id;
    if (!FindId(&id)) return false;
    PageOf(id).records[id % kPage] = &record;
    record.id.Set(id);
  }
  record.uses.AddFirst();
  return true;
}

bool RecordTable::FindId(uint32_t* id) {
  Collect(kRecordsAnId);
  if (first_free_ == kEnd && size_ == most_) Collect(kRecordsForAnId);
  if (first_free_ != kEnd) {
    *id = first_free_;
    first_free_ = PageOf(*id).next_free[*id % kPage];
    return true;
  }
  if (size_ == most_) return false;
  if (size_ % kPage == 0) {
    // release: for whoever reads it without an order of its own, as the
    // destructor does.
    pages_[size_ / kPage].store(new Page(), std::memory_order_release);
  }
  *id = size_++;
  return true;
}

void RecordTable::Collect(int records) {
  for (int i = 0; i < records && size_ > 0; ++i) {
    next_ = next_ + 1 < size_ ? next_ + 1 : 0;
    const LimitRecord* const record = PageOf(next_).records[next_ % kPage];
    if (record == nullptr || record->uses.Held()) continue;
    record->id.Set(RecordId::kNone);
    Free(next_);
  }
}

void RecordTable::Forget(const LimitRecord& record) {
  const SpinLockHolder lock(&mutex_);
  const uint32_t id = record.id;
  if (id != RecordId::kNone) Free(id);
}

void RecordTable::Free(uint32_t id) {
  Page& page = PageOf(id);
  page.records[id % kPage] = nullptr;
  page.next_free[id % kPage] = first_free_;
  first_free_ = id;
}

}  // namespace weir
