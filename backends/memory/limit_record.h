// A rule as the memory store knows it: whose state it is, and how it is run.
#ifndef WEIR_BACKENDS_MEMORY_LIMIT_RECORD_H_
#define WEIR_BACKENDS_MEMORY_LIMIT_RECORD_H_

#include <cstdint>
#include <utility>

#include "weir/registry.h"
#include "weir/store.h"

namespace weir {

class MemoryTxn;

// Never changes once made, and lives as long as its store: entries point to
// the record that they were written under.
class LimitRecord final : public StoreRule {
 public:
  LimitRecord(uint32_t id, CompiledLimit l, const EngineOps<MemoryTxn>* o)
      : state_id(id), limit(std::move(l)), ops(o) {}

  const uint32_t state_id;  // rule name and algorithm
  const CompiledLimit limit;
  // Null for an engine from outside the tree: it runs on the abstract Txn.
  const EngineOps<MemoryTxn>* const ops;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_LIMIT_RECORD_H_
