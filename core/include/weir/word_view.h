// The View of an engine whose state is one small struct (at most 40 bytes,
// trivially copyable): GET, pure functions, SET. For authors of engines; see
// weir/engine.h first, which includes this.
//
// Such an engine E gives
//
//   State
//   static State Fresh(const Params&, int64_t t)
//   static int64_t StoredTime(const Params&, const State&)  the latest seen
//   static int64_t Horizon(const Params&)        further ahead: a jumped clock
//   static State Cut(const Params&, int64_t t)   "empty at t"
//   static State Carry(const Params& old, const Params&, const State&, t)
//   static bool Admits(const Params&, const State&, t, cost)
//   static State Charge(const Params&, const State&, t, cost)
//   static State Refund(const Params&, const State&, t, n)
//   static int64_t Remaining(const Params&, const State&, t)
//   static int64_t Wait(const Params&, const State&, t, cost)
//   static int64_t FreshAt(const Params&, const State&, t)   a time
//
// all pure: the lock-free form of the engine is made from the same functions.
// Its view is then
//
//   template <class T>
//   using View = WordView<E, T>;
//
// Thread safety: one call's own. Cost: one GET; one SET or DEL if the state
// changes.
#ifndef WEIR_WORD_VIEW_H_
#define WEIR_WORD_VIEW_H_

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

namespace weir {
namespace internal {

// A clock that jumped left this state.
template <class E>
bool Jumped(const typename E::Params& p, const typename E::State& s,
            int64_t t) {
  return E::StoredTime(p, s) - t > E::Horizon(p);
}

// How long until the key equals a fresh one, us; 0: it does at `t`.
template <class E>
int64_t ResetAfter(const typename E::Params& p, const typename E::State& s,
                   int64_t t) {
  const int64_t after = E::FreshAt(p, s, t) - t;
  return after > 0 ? after : 0;
}

}  // namespace internal

template <class E, class T>
class WordView {
 public:
  using Params = typename E::Params;
  using State = typename E::State;
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) <= 40);

  WordView(T& txn, const Params& p, const Params* old, int64_t t)
      : txn_(txn), p_(p), t_(t) {
    std::optional<std::string_view> bytes = txn.GET();
    present_ = bytes.has_value() && bytes->size() == sizeof(State);
    if (!present_) {
      state_ = E::Fresh(p, t);
      return;
    }
    std::memcpy(&state_, bytes->data(), sizeof(State));
    const Params& was = old != nullptr ? *old : p;
    if (internal::Jumped<E>(was, state_, t)) {
      state_ = E::Cut(p, t);
      cut_ = true;
    } else if (old != nullptr) {
      state_ = E::Carry(*old, p, state_, t);
    }
  }

  bool Admits(int64_t cost) const { return E::Admits(p_, state_, t_, cost); }

  void Charge(int64_t cost) {
    state_ = E::Charge(p_, state_, t_, cost);
    Store();
  }

  void Refund(int64_t n) {
    if (!present_ || n == 0 || ResetAfter() == 0) return;
    state_ = E::Refund(p_, state_, t_, n);
    Store();
  }

  void Settle() {
    if (cut_) Store();
  }

  int64_t Remaining() const { return E::Remaining(p_, state_, t_); }
  int64_t Wait(int64_t cost) const { return E::Wait(p_, state_, t_, cost); }
  int64_t ResetAfter() const { return internal::ResetAfter<E>(p_, state_, t_); }

 private:
  void Store() {
    const int64_t after = ResetAfter();
    if (after == 0) {
      txn_.DEL();
      return;
    }
    char bytes[sizeof(State)];
    std::memcpy(bytes, &state_, sizeof(State));
    txn_.SET({bytes, sizeof(State)}, (after + 999) / 1000);
  }

  T& txn_;
  const Params& p_;
  int64_t t_;
  State state_;
  bool present_ = false;
  bool cut_ = false;
};

}  // namespace weir

#endif  // WEIR_WORD_VIEW_H_
