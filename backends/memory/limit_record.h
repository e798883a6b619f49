// A rule as the memory store knows it: whose state it is, and how it is run.
#ifndef WEIR_BACKENDS_MEMORY_LIMIT_RECORD_H_
#define WEIR_BACKENDS_MEMORY_LIMIT_RECORD_H_

#include <cstdint>
#include <string>
#include <utility>

#include "backends/memory/record_uses.h"
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

// Never changes once made, but for who refers to it (record_uses.h): entries
// name the record that they were written under.
class LimitRecord final : public StoreRule {
 public:
  LimitRecord(uint32_t state, uint64_t hash_seed, CompiledLimit l,
              const WordOps* w, const EngineOps<MemoryTxn>* o,
              SharedState* s = nullptr, StoreParts parts = {})
      : keeper(parts.keeper),
        time(parts.time),
        state_id(state),
        seed(hash_seed),
        params(ParamsOf(l)),
        word(w),
        steps(w == nullptr   ? nullptr
              : l.denies_all ? &kEngineOps<DenyAll, WordTxn>
                             : &w->steps),
        check_in_place(w != nullptr && !l.denies_all ? w->check_in_place
                                                     : nullptr),
        counts_denied(l.traits.count_denied),
        ops(o),
        shared(s),
        charges_shared(check_in_place == nullptr ||
                       word->can_share == nullptr || word->can_share(params)),
        state_bytes(w != nullptr ? static_cast<uint32_t>(w->state_bytes)
                                 : kGeneralBytes),
        limit(std::move(l)),
        recorded(RecordedOf(limit)) {}

  // An entry that is not a word holds a pointer to its value, and its expiry.
  static constexpr uint32_t kGeneralBytes = 16;

  Keeper* const keeper;
  const TimeSource* const time;
  mutable RecordId id;
  const uint32_t state_id;   // rule name and algorithm
  const uint64_t seed;       // of the hash of this state's keys
  const void* const params;  // the limit's
  // Not null: the state is one small struct, kept in the entry itself.
  const WordOps* const word;
  const EngineOps<WordTxn>* const steps;  // of a word; a limit of 0 has its own
  // Null: checks take the long way.
  const CheckInPlaceFn check_in_place;
  const bool counts_denied;
  // For other engines. Null for one from outside the tree: it runs on the
  // abstract Txn.
  const EngineOps<MemoryTxn>* const ops;
  bool from_outside() const { return word == nullptr && ops == nullptr; }
  // What keys without room share; null: they share nothing.
  SharedState* const shared;
  // Is that as strict as states of their own would be?
  const bool charges_shared;
  // In the entry. Records of one state_id may have different ones, if the
  // engine has a packed form.
  const uint32_t state_bytes;
  const CompiledLimit limit;
  // Where it is the same, states mean the same: nothing is carried over.
  const std::string recorded;
  // Keys that come and go change it, so it lies on another line than what every
  // call reads, here or beyond the end.
  alignas(64) mutable RecordUses uses;

 private:
  // What its engine records with a state on Redis, if it has a half there:
  // there may be several ways to write the same limit.
  static std::string RecordedOf(const CompiledLimit& limit) {
    const bool has_half = limit.engine != nullptr && !limit.denies_all &&
                          limit.engine->script != nullptr;
    if (!has_half) return limit.text;
    std::string bytes;
    limit.engine->script->write_record(limit.params.get(), &bytes);
    return bytes;
  }
  // A limit of 0 has no parameters, but an engine wants a reference.
  static const void* ParamsOf(const CompiledLimit& limit) {
    static constexpr DenyAll::Params kNone = {};
    return limit.denies_all ? &kNone : limit.params.get();
  }
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_LIMIT_RECORD_H_
