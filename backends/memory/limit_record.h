// A rule as the memory store knows it: whose state it is, and how it is run.
#ifndef WEIR_BACKENDS_MEMORY_LIMIT_RECORD_H_
#define WEIR_BACKENDS_MEMORY_LIMIT_RECORD_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "backends/memory/word_engine.h"
#include "core/deny_all.h"
#include "weir/registry.h"
#include "weir/store.h"

namespace weir {

class Keeper;
class MemoryTxn;
class SharedState;
class TimeSource;

// What quick checks use of the store.
struct StoreParts {
  Keeper* keeper = nullptr;
  const TimeSource* time = nullptr;
};

// Never changes once made, and lives as long as its store: entries name the
// record that they were written under.
class LimitRecord final : public StoreRule {
 public:
  LimitRecord(uint32_t record_id, uint32_t state, uint64_t hash_seed,
              CompiledLimit l, const WordOps* w, const EngineOps<MemoryTxn>* o,
              SharedState* s = nullptr, StoreParts parts = {})
      : keeper(parts.keeper),
        time(parts.time),
        id(record_id),
        state_id(state),
        seed(hash_seed),
        limit(std::move(l)),
        params(ParamsOf(limit)),
        word(w),
        steps(w == nullptr       ? nullptr
              : limit.denies_all ? &kEngineOps<DenyAll, WordTxn>
                                 : &w->steps),
        hot(w != nullptr && !limit.denies_all ? w->hot : nullptr),
        counts_denied(limit.traits.count_denied),
        ops(o),
        shared(s),
        charges_shared(hot == nullptr || word->can_share == nullptr ||
                       word->can_share(params)),
        state_bytes(w != nullptr ? static_cast<uint32_t>(w->state_bytes)
                                 : kGeneralBytes) {}

  // An entry that is not a word holds a pointer to its value, and its expiry.
  static constexpr uint32_t kGeneralBytes = 16;

  Keeper* const keeper;
  const TimeSource* const time;
  const uint32_t id;
  const uint32_t state_id;  // rule name and algorithm
  const uint64_t seed;      // of the hash of this state's keys
  const CompiledLimit limit;
  const void* const params;
  // Not null: the state is one small struct, kept in the entry itself.
  const WordOps* const word;
  const EngineOps<WordTxn>* const steps;  // of a word; a limit of 0 has its own
  // Null: checks take the long way.
  const HotCheck hot;
  const bool counts_denied;
  // For other engines. Null for one from outside the tree: it runs on the
  // abstract Txn.
  const EngineOps<MemoryTxn>* const ops;
  // What keys without room share; null: they share nothing.
  SharedState* const shared;
  // Is that as strict as states of their own would be?
  const bool charges_shared;
  const uint32_t state_bytes;  // in the entry; equal for equal state_ids

 private:
  // A limit of 0 has no parameters, but an engine wants a reference.
  static const void* ParamsOf(const CompiledLimit& limit) {
    static constexpr DenyAll::Params kNone = {};
    return limit.denies_all ? &kNone : limit.params.get();
  }
};

// The records of a store, by their ids. Grows only.
// Thread safety: Add by one thread at a time; operator[] by any.
class RecordTable {
 public:
  static constexpr uint32_t kMost = 1U << 20;

  RecordTable() = default;
  ~RecordTable() {
    for (std::atomic<Page*>& page : pages_) delete page.load();
  }
  RecordTable(const RecordTable&) = delete;
  RecordTable& operator=(const RecordTable&) = delete;

  uint32_t size() const { return size_; }
  void Add(const LimitRecord* record) {
    std::atomic<Page*>& page = pages_[size_ / kPage];
    if (size_ % kPage == 0) page.store(new Page(), std::memory_order_release);
    (*page.load(std::memory_order_relaxed))[size_ % kPage] = record;
    ++size_;
  }
  // An id comes from an entry, under the lock of its stripe; the entry was
  // written by a call that had the record from Add. That orders all of it, so
  // relaxed will do here.
  const LimitRecord& operator[](uint32_t id) const {
    return *(*pages_[id / kPage].load(std::memory_order_relaxed))[id % kPage];
  }

 private:
  static constexpr uint32_t kPage = 1024;
  using Page = std::array<const LimitRecord*, kPage>;

  uint32_t size_ = 0;
  std::array<std::atomic<Page*>, kMost / kPage> pages_{};
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_LIMIT_RECORD_H_
