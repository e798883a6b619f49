// An engine as it runs on states in their packed form: what is asked most by
// that form's own quick steps (state_steps.h), all else by the engine's own
// functions, on the state unpacked.
//
// An engine E has such a form if some limits let its state lie in less:
//
//   struct Packed {
//     State
//     static bool Fits(const Params&)      is it for this limit?
//     static State Pack(const Params&, const E::State&)
//     static E::State Unpack(const Params&, const State&)
//     static State Fresh(const Params&, int64_t t)
//     Near, IsNear                         as in state_steps.h
//   }
//
// Both forms say the same: Unpack gives back what was packed.
#ifndef WEIR_BACKENDS_MEMORY_PACKED_ENGINE_H_
#define WEIR_BACKENDS_MEMORY_PACKED_ENGINE_H_

#include <cstdint>
#include <type_traits>

namespace weir {

template <class E, class = void>
inline constexpr bool kHasPacked = false;
template <class E>
inline constexpr bool kHasPacked<E, std::void_t<typename E::Packed>> = true;

template <class E>
struct PackedEngine {
  using Form = typename E::Packed;
  using Params = typename E::Params;
  using State = typename Form::State;
  using Near = typename Form::Near;

  static bool IsNear(const Params& p, const State& s, int64_t t) {
    return Form::IsNear(p, s, t);
  }
  static State Fresh(const Params& p, int64_t t) { return Form::Fresh(p, t); }
  static int64_t StoredTime(const Params& p, const State& s) {
    return E::StoredTime(p, Form::Unpack(p, s));
  }
  static int64_t Horizon(const Params& p) { return E::Horizon(p); }
  static bool Admits(const Params& p, const State& s, int64_t t, int64_t cost) {
    return E::Admits(p, Form::Unpack(p, s), t, cost);
  }
  static State Charge(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    return Form::Pack(p, E::Charge(p, Form::Unpack(p, s), t, cost));
  }
  static int64_t Remaining(const Params& p, const State& s, int64_t t) {
    return E::Remaining(p, Form::Unpack(p, s), t);
  }
  static int64_t Wait(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    return E::Wait(p, Form::Unpack(p, s), t, cost);
  }
  static int64_t FreshAt(const Params& p, const State& s, int64_t t) {
    return E::FreshAt(p, Form::Unpack(p, s), t);
  }
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_PACKED_ENGINE_H_
