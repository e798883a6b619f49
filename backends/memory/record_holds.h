// The holds that one call has: of records that it is about to write under, and
// of those that an entry, a cell or a shared state of its has let go of while
// it may still be reading them. They go with the call.
#ifndef WEIR_BACKENDS_MEMORY_RECORD_HOLDS_H_
#define WEIR_BACKENDS_MEMORY_RECORD_HOLDS_H_

#include <array>

#include "absl/base/macros.h"
#include "backends/memory/limit_record.h"

namespace weir {

// Of one key: at most the record that is asked, the one that its entry or cell
// was written under, and that of the state that it shares.
class RecordHolds {
 public:
  RecordHolds() = default;
  ~RecordHolds() {
    for (int i = 0; i < count_; ++i) held_[Index(i)]->uses.Drop();
  }
  RecordHolds(const RecordHolds&) = delete;
  RecordHolds& operator=(const RecordHolds&) = delete;

  bool Has(const LimitRecord& record) const {
    for (int i = 0; i < count_; ++i) {
      if (held_[Index(i)] == &record) return true;
    }
    return false;
  }
  // A hold becomes the call's.
  void Give(const LimitRecord& record) {
    if (Has(record)) {
      record.uses.Drop();
      return;
    }
    ABSL_ASSERT(Index(count_) < held_.size());
    held_[Index(count_++)] = &record;
  }
  // The call's hold becomes that of what it has written.
  void Take(const LimitRecord& record) {
    ABSL_ASSERT(Has(record));
    int i = 0;
    while (held_[Index(i)] != &record) ++i;
    held_[Index(i)] = held_[Index(--count_)];
  }

 private:
  static size_t Index(int i) { return static_cast<size_t>(i); }

  int count_ = 0;
  std::array<const LimitRecord*, 3> held_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_RECORD_HOLDS_H_
