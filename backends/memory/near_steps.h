// An engine may have steps that are quicker, for states that are near: E::Near
// gives Admits, Charge, Remaining and Wait, and E::IsNear tells for which
// states they hold; what an admitted call makes of such a state is near too. An
// engine without them has no others than its own.
#ifndef WEIR_BACKENDS_MEMORY_NEAR_STEPS_H_
#define WEIR_BACKENDS_MEMORY_NEAR_STEPS_H_

#include <cstdint>
#include <type_traits>

namespace weir {

template <class E, class = void>
struct NearSteps {
  using Type = E;
  static bool Hold(const typename E::Params&, const typename E::State&,
                   int64_t) {
    return true;
  }
};

template <class E>
struct NearSteps<E, std::void_t<typename E::Near>> {
  using Type = typename E::Near;
  static bool Hold(const typename E::Params& p, const typename E::State& s,
                   int64_t t) {
    return E::IsNear(p, s, t);
  }
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_NEAR_STEPS_H_
