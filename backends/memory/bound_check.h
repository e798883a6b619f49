// A handle's check on its cell, for an engine whose state is one small struct.
#ifndef WEIR_BACKENDS_MEMORY_BOUND_CHECK_H_
#define WEIR_BACKENDS_MEMORY_BOUND_CHECK_H_

#include <cstdint>
#include <cstring>

#include "backends/memory/bound_cell.h"
#include "weir/engine.h"
#include "weir/store.h"

namespace weir {

struct BoundArgs {
  const LimitRecord* record;
  const void* params;
  int64_t t;
  int64_t cost;
};

// Each gives a decision's numbers from the state that a call left behind.
template <class E>
struct StateNumbers {
  using P = typename E::Params;
  using S = typename E::State;
  static S Read(const void* state) {
    S s;
    std::memcpy(&s, state, sizeof(s));
    return s;
  }
  static int64_t Remaining(const void* p, const void* s, int64_t t) {
    return E::Remaining(*static_cast<const P*>(p), Read(s), t);
  }
  static int64_t Wait(const void* p, const void* s, int64_t t, int64_t cost) {
    return E::Wait(*static_cast<const P*>(p), Read(s), t, cost);
  }
  static int64_t ResetAfter(const void* p, const void* s, int64_t t) {
    const int64_t at = E::FreshAt(*static_cast<const P*>(p), Read(s), t);
    return at > t ? at - t : 0;
  }
};

template <class E>
inline constexpr NumberOps kNumberOps = {&StateNumbers<E>::Remaining,
                                         &StateNumbers<E>::Wait,
                                         &StateNumbers<E>::ResetAfter};

// Decides, or answers false: the call must be made by key (the state is of
// another limit, or was left behind by a clock that jumped).
template <class E>
bool BoundCheck(BoundCell& cell, const BoundArgs& a, bool count_denied,
                BoundOutcome* out) {
  using State = typename E::State;
  const auto& p = *static_cast<const typename E::Params*>(a.params);
  for (;;) {
    const uint64_t version = cell.Version();
    if (__builtin_expect(BoundCell::Busy(version), 0)) {
      Relax();
      continue;
    }
    State s;
    if (cell.record() != a.record) return false;
    if (!cell.Load<sizeof(State)>(&s)) {
      s = E::Fresh(p, a.t);
    } else if (E::StoredTime(p, s) - a.t > E::Horizon(p)) {
      return false;
    }
    out->allowed = E::Admits(p, s, a.t, a.cost);
    const Action action = CheckAction(out->allowed, count_denied, a.cost);
    if (action == Action::kCharge) {
      s = E::Charge(p, s, a.t, a.cost);
      if (!cell.TryLock(version)) continue;
      char bytes[sizeof(State)];
      std::memcpy(bytes, &s, sizeof(s));
      cell.Store(bytes, sizeof(s));
      cell.Unlock(version);
    } else if (!cell.Unchanged(version)) {
      continue;
    }
    std::memcpy(out->state, &s, sizeof(s));
    out->ops = &kNumberOps<E>;
    out->params = a.params;
    out->t = a.t;
    return true;
  }
}

struct BoundOps {
  bool (*check)(BoundCell&, const BoundArgs&, bool count_denied, BoundOutcome*);
};

template <class E>
inline constexpr BoundOps kBoundOps = {&BoundCheck<E>};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_BOUND_CHECK_H_
