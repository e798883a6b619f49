// The records that entries name, by their ids.
//
// A record gets an id with its first hold, and may lose it once it has none:
// ids are few, and a limiter may have many limits whose keys are long gone. So
// what runs out is the number of limits under which a store has keys at one
// time.
#ifndef WEIR_BACKENDS_MEMORY_RECORD_TABLE_H_
#define WEIR_BACKENDS_MEMORY_RECORD_TABLE_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "backends/memory/limit_record.h"
#include "backends/memory/spin_lock.h"

namespace weir {

// Thread safety: any thread.
class RecordTable {
 public:
  static constexpr uint32_t kMost = 1U << RecordId::kBits;

  RecordTable() = default;
  ~RecordTable() {
    for (std::atomic<Page*>& page : pages_) delete page.load();
  }
  RecordTable(const RecordTable&) = delete;
  RecordTable& operator=(const RecordTable&) = delete;

  uint32_t most() const { return most_; }
  // For tests, before anything is held: 1 to kMost.
  void set_most(uint32_t most) { most_ = most; }

  // A hold of a record of which the caller has a handle. False: it has no id,
  // and among those that were looked at there was none to be had. The lock that
  // it may take is waited for under those of stripes; its holder waits for
  // none. Cost: a swap if it is held already; else at most 20 records are
  // looked at. Throws as operator new does; then nothing has changed.
  bool Hold(const LimitRecord& record) {
    return record.uses.TryAdd() || HoldFirst(record);
  }

  // A record that nobody holds, and nobody can come to hold, gives back its id.
  void Forget(const LimitRecord& record);

  // `id` is of a record that is held: it comes from an entry, under the lock of
  // its stripe. The record was put here before its first hold, and the entry
  // written after that (TryAdd says how); and nothing else is put here before
  // its last hold is gone, which is when the last such entry left (Held). That
  // orders all of it, so relaxed will do here.
  const LimitRecord& operator[](uint32_t id) const {
    const Page& page = *pages_[id / kPage].load(std::memory_order_relaxed);
    return *page.records[id % kPage];
  }

 private:
  static constexpr uint32_t kPage = 1024;
  static constexpr uint32_t kEnd = kMost;  // of the list of free ids
  struct Page {
    std::array<const LimitRecord*, kPage> records{};  // null: the id is free
    std::array<uint32_t, kPage> next_free{};
  };

  bool HoldFirst(const LimitRecord& record);
  // False: there is none.
  bool FindId(uint32_t* id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the ids away from records that nobody holds, looking at so many.
  void Collect(int records) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Free(uint32_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Page& PageOf(uint32_t id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return *pages_[id / kPage].load(std::memory_order_relaxed);
  }

  SpinLock mutex_;
  uint32_t most_ = kMost;
  uint32_t size_ ABSL_GUARDED_BY(mutex_) = 0;  // ids that were ever given
  uint32_t first_free_ ABSL_GUARDED_BY(mutex_) = kEnd;
  uint32_t next_ ABSL_GUARDED_BY(mutex_) = 0;  // is looked at next
  std::array<std::atomic<Page*>, kMost / kPage> pages_{};
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_RECORD_TABLE_H_
