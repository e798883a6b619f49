// How the memory store runs the engines of the tree. All their code is
// instantiated in engine_ops.cc.
#ifndef WEIR_BACKENDS_MEMORY_ENGINE_OPS_H_
#define WEIR_BACKENDS_MEMORY_ENGINE_OPS_H_

#include "backends/memory/record_map.h"
#include "weir/engine.h"
#include "weir/registry.h"
#include "weir/store.h"

namespace weir {

// Without ops: an engine from outside the tree.
struct OpsOf {
  const EngineInfo* engine = nullptr;
  RecordMap::Ops ops;
  QuickChecks quick;
  QuickChecks quick_by_users_clock;
  // Null, or for which limits: those of the packed form, which are `packed`.
  bool (*packs)(const void* params) = nullptr;
  const OpsOf* packed = nullptr;
};

// Of a limit: those of its engine's packed form, if that is for this limit.
OpsOf FindOps(const CompiledLimit& limit);

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_ENGINE_OPS_H_
