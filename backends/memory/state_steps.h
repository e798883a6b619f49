// The steps of a check on a state at a time, as one object, so that what they
// have in common is worked out once.
//
// An engine may have steps that are quicker, for states that are near: E::Near,
// made of (params, state, time), with Admits, Charge, state, Remaining, Wait
// and ResetAfter, and E::IsNear, which tells for which states they hold; what
// an admitted call makes of such a state is near too, and no such state was
// left behind by a clock that jumped. An engine without them has its own.
#ifndef WEIR_BACKENDS_MEMORY_STATE_STEPS_H_
#define WEIR_BACKENDS_MEMORY_STATE_STEPS_H_

#include <cstdint>
#include <type_traits>

#include "weir/engine.h"

namespace weir {

// The engine's own functions.
template <class E>
class OwnSteps {
 public:
  using Params = typename E::Params;
  using State = typename E::State;

  static bool Hold(const Params& p, const State& s, int64_t t) {
    return !internal::Jumped<E>(p, s, t);
  }

  OwnSteps(const Params& p, const State& s, int64_t t) : p_(p), s_(s), t_(t) {}

  bool Admits(int64_t cost) const { return E::Admits(p_, s_, t_, cost); }
  void Charge(int64_t cost) { s_ = E::Charge(p_, s_, t_, cost); }
  const State& state() const { return s_; }
  int64_t Remaining() const { return E::Remaining(p_, s_, t_); }
  int64_t Wait(int64_t cost) const { return E::Wait(p_, s_, t_, cost); }
  int64_t ResetAfter() const { return internal::ResetAfter<E>(p_, s_, t_); }

 private:
  const Params& p_;
  State s_;
  const int64_t t_;
};

template <class E, class = void>
inline constexpr bool kHasQuickSteps = false;
template <class E>
inline constexpr bool kHasQuickSteps<E, std::void_t<typename E::Near>> = true;

template <class E, class = void>
class QuickSteps : public OwnSteps<E> {
 public:
  using OwnSteps<E>::OwnSteps;
};

template <class E>
class QuickSteps<E, std::void_t<typename E::Near>> : public E::Near {
 public:
  using E::Near::Near;

  static bool Hold(const typename E::Params& p, const typename E::State& s,
                   int64_t t) {
    return E::IsNear(p, s, t);
  }
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_STATE_STEPS_H_
