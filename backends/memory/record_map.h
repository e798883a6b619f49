// The limits that a store was told of: a record for each different limit of a
// rule's name, for as long as anybody refers to it.
//
// Nobody is told when the last one lets go, which may be a call under a
// stripe's lock. Instead each Attach, which adds at most one record, looks at a
// few others and frees those that nobody refers to: so there are at most a
// third more than are in use, or were at the last peak.
#ifndef WEIR_BACKENDS_MEMORY_RECORD_MAP_H_
#define WEIR_BACKENDS_MEMORY_RECORD_MAP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "backends/memory/limit_record.h"
#include "backends/memory/shared_state.h"
#include "backends/memory/table.h"
#include "core/mutex.h"

namespace weir {

// Thread safety: any thread.
class RecordMap {
 public:
  // `share`: keys without room share a state.
  explicit RecordMap(bool share) : share_(share) {}
  RecordMap(const RecordMap&) = delete;
  RecordMap& operator=(const RecordMap&) = delete;

  // How a limit's engine is run. Both null: it is from outside the tree.
  struct Ops {
    const WordOps* word = nullptr;
    const EngineOps<MemoryTxn>* general = nullptr;
  };
  // A handle of the limit's record. `context`: of all tables that may hold it;
  // `parts`: of their store.
  std::shared_ptr<const StoreRule> Attach(std::string_view rule_name,
                                          const CompiledLimit& limit, Ops ops,
                                          TableContext* context,
                                          StoreParts parts = {});

  // Calls f(SharedState&) for each name's. The states have a lock of their own,
  // which f takes.
  template <class F>
  void ForEachShared(F f) {
    const MutexLock lock(&mutex_);
    for (auto& [name, state] : states_) f(state.shared);
  }

  int64_t size() const {
    const MutexLock lock(&mutex_);
    return static_cast<int64_t>(records_.size());
  }
  // Different names and algorithms.
  int64_t names() const {
    const MutexLock lock(&mutex_);
    return static_cast<int64_t>(states_.size());
  }

 private:
  // What the records of one name and algorithm have in common.
  struct State {
    uint32_t id = 0;
    int records = 0;
    // What keys without room share: in use only while it holds a record.
    SharedState shared;
  };
  // (rule name, algorithm, engine)
  using States =
      std::map<std::tuple<std::string, std::string, const EngineInfo*>, State>;
  struct Known {
    std::shared_ptr<LimitRecord> record;
    States::iterator state;
  };
  // By state id and text, which is the record's own.
  using Records = std::map<std::pair<uint32_t, std::string_view>, Known>;

  const std::shared_ptr<LimitRecord>& Find(std::string_view rule_name,
                                           const CompiledLimit& limit, Ops ops,
                                           StoreParts parts,
                                           const KeyHash& hash)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Frees the next records that nobody refers to, looking at a few. A name
  // leaves with the last of its records.
  void Collect(RecordTable* table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const bool share_;
  mutable Mutex mutex_;
  Records records_ ABSL_GUARDED_BY(mutex_);
  States states_ ABSL_GUARDED_BY(mutex_);  // goes first: it uses the records
  Records::iterator next_ ABSL_GUARDED_BY(mutex_) = records_.end();
  uint32_t state_ids_ ABSL_GUARDED_BY(mutex_) = 0;  // that were ever given
  std::vector<uint32_t> free_state_ids_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_RECORD_MAP_H_
