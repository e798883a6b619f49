#include "backends/memory/engine_ops.h"

#include "backends/memory/memory_txn.h"
#include "backends/memory/open_key.h"
#include "backends/memory/quick_check.h"
#include "core/deny_all.h"
#include "engine_list.h"

namespace weir {
namespace {

template <class E>
constexpr OpsOf kPackedOpsOf = {&kEngine<E>,
                                {&kPackedOps<E>, nullptr},
                                kQuickChecks<PackedEngine<E>, OwnTime>,
                                kQuickChecks<PackedEngine<E>, UsersTime>};

template <class E>
bool Packs(const void* params) {
  return E::Packed::Fits(*static_cast<const typename E::Params*>(params));
}

template <class E>
constexpr OpsOf MakeOps() {
  if constexpr (!kIsWordEngine<E>) {
    return {&kEngine<E>, {nullptr, &kEngineOps<E, MemoryTxn>}, {}, {}};
  } else {
    OpsOf ops = {&kEngine<E>,
                 {&kWordOps<E>, nullptr},
                 kQuickChecks<E, OwnTime>,
                 kQuickChecks<E, UsersTime>};
    if constexpr (kHasPacked<E>) {
      ops.packs = &Packs<E>;
      ops.packed = &kPackedOpsOf<E>;
    }
    return ops;
  }
}

#define WEIR_ENGINE_OPS(Type) MakeOps<Type>(),
constexpr OpsOf kOps[] = {WEIR_FOR_EACH_ENGINE(WEIR_ENGINE_OPS)};
#undef WEIR_ENGINE_OPS

}  // namespace

OpsOf FindOps(const CompiledLimit& limit) {
  OpsOf found;
  for (const OpsOf& o : kOps) {
    if (o.engine == limit.engine) found = o;
  }
  if (limit.denies_all) {
    found.ops.general = &kEngineOps<DenyAll, MemoryTxn>;
  } else if (found.packs != nullptr && found.packs(limit.params.get())) {
    found = *found.packed;
  }
  return found;
}

}  // namespace weir
