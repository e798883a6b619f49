// Engines whose state is one small struct, as the memory store runs them: the
// state lies in the entry, as it is or packed, its expiry follows from the
// state itself, and a step costs no command of the general transaction.
#ifndef WEIR_BACKENDS_MEMORY_WORD_ENGINE_H_
#define WEIR_BACKENDS_MEMORY_WORD_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "absl/base/attributes.h"
#include "backends/memory/bound_cell.h"
#include "backends/memory/bound_check.h"
#include "backends/memory/packed_engine.h"
#include "backends/memory/state_steps.h"
#include "weir/engine.h"
#include "weir/store.h"

namespace weir {

class OpenKey;

// What a WordView needs of a transaction: GET, SET and DEL of one small value,
// which is the state as the engine knows it, whatever form it lies in.
class WordTxn {
 public:
  explicit WordTxn(OpenKey* key) : key_(key) {}

  // Valid until the next GET.
  std::optional<std::string_view> GET();
  // The expiry is that of the state: see WordOps::over.
  void SET(std::string_view value, int64_t px);
  void DEL();

 private:
  OpenKey* const key_;
  char unpacked_[BoundCell::kBytes];
};

// A check of one rule on a state that is there, in place. False, and nothing is
// done: it takes the long way (the state was left behind by a clock that
// jumped, or its key becomes fresh and has to leave).
using CheckInPlaceFn = bool (*)(const void* params, char* state, int64_t t,
                                int64_t cost, bool count_denied, Outcome* out);

// The steps of such an engine, for states in one form.
struct WordOps {
  size_t state_bytes;
  EngineOps<WordTxn> steps;
  // The state equals that of a fresh key at `now`.
  bool (*over)(const void* params, const char* state, int64_t now);
  CheckInPlaceFn check_in_place;
  MakeBinding bind;
  // Of a state that keys share. After a charge at `t`; null: it stays as it is.
  void (*share)(const void* params, char* state, int64_t t) = nullptr;
  // Is it as strict as one of each key's own? Null: yes.
  bool (*can_share)(const void* params) = nullptr;
  // Between a packed form and the engine's own, which takes `whole_bytes`.
  // Null: this is the engine's own.
  void (*pack)(const void* params, const char* whole, char* state) = nullptr;
  void (*unpack)(const void* params, const char* state, char* whole) = nullptr;
  size_t whole_bytes = 0;
};

namespace internal {

template <class E>
bool WordOver(const void* params, const char* bytes, int64_t now) {
  typename E::State state;
  std::memcpy(&state, bytes, sizeof(state));
  // `now` may be before all time: a store that has heard none yet.
  return E::FreshAt(*static_cast<const typename E::Params*>(params), state,
                    now) <= now;
}

// A check on a state in place. False, and nothing is done: these steps don't
// hold for the state, or its key becomes fresh and has to leave. Steps: see
// state_steps.h.
template <class E, class Steps>
ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool CheckInPlace(
    const typename E::Params& p, char* bytes, int64_t t, int64_t cost,
    bool count_denied, Outcome* out) {
  typename E::State s;
  std::memcpy(&s, bytes, sizeof(s));
  if (__builtin_expect(!Steps::Hold(p, s, t), 0)) return false;
  Steps steps(p, s, t);
  const bool allowed = steps.Admits(cost);
  if (CheckAction(allowed, count_denied, cost) == Action::kCharge) {
    steps.Charge(cost);
    s = steps.state();
    out->numbers.reset_after = steps.ResetAfter();
    if (__builtin_expect(out->numbers.reset_after == 0, 0)) return false;
    StoreWords(bytes, &s, sizeof(s));
  } else {
    out->numbers.reset_after = steps.ResetAfter();
  }
  out->allowed = allowed;
  out->numbers.remaining = steps.Remaining();
  out->numbers.wait = allowed ? 0 : steps.Wait(cost);
  return true;
}

template <class E>
__attribute__((flatten)) bool CheckOwnInPlace(const void* params, char* bytes,
                                              int64_t t, int64_t cost,
                                              bool count_denied, Outcome* out) {
  return CheckInPlace<E, OwnSteps<E>>(
      *static_cast<const typename E::Params*>(params), bytes, t, cost,
      count_denied, out);
}

// What an engine says of a state that keys share: nothing, or E::Shared and
// E::CanShare.
template <class E, class = void>
struct Sharing {
  static constexpr decltype(WordOps::share) kShare = nullptr;
};
template <class E>
struct Sharing<E, std::void_t<decltype(&E::Shared)>> {
  static void Share(const void* params, char* bytes, int64_t t) {
    typename E::State s;
    std::memcpy(&s, bytes, sizeof(s));
    s = E::Shared(*static_cast<const typename E::Params*>(params), s, t);
    std::memcpy(bytes, &s, sizeof(s));
  }
  static constexpr decltype(WordOps::share) kShare = &Share;
};
template <class E, class = void>
struct SharingAtAll {
  static constexpr decltype(WordOps::can_share) kCanShare = nullptr;
};
template <class E>
struct SharingAtAll<E, std::void_t<decltype(&E::CanShare)>> {
  static bool CanShare(const void* params) {
    return E::CanShare(*static_cast<const typename E::Params*>(params));
  }
  static constexpr decltype(WordOps::can_share) kCanShare = &CanShare;
};

// What a state that keys share needs is known of the engine's own form.
template <class E>
constexpr decltype(WordOps::share) NotShared() {
  static_assert(Sharing<E>::kShare == nullptr &&
                SharingAtAll<E>::kCanShare == nullptr);
  return nullptr;
}

template <class E>
struct Packing {
  using Form = typename E::Packed;
  static const typename E::Params& Params(const void* params) {
    return *static_cast<const typename E::Params*>(params);
  }
  static void Pack(const void* params, const char* whole, char* state) {
    typename E::State s;
    std::memcpy(&s, whole, sizeof(s));
    const typename Form::State packed = Form::Pack(Params(params), s);
    std::memcpy(state, &packed, sizeof(packed));
  }
  static void Unpack(const void* params, const char* state, char* whole) {
    typename Form::State packed;
    std::memcpy(&packed, state, sizeof(packed));
    const typename E::State s = Form::Unpack(Params(params), packed);
    std::memcpy(whole, &s, sizeof(s));
  }
};

template <class V>
struct IsWordView : std::false_type {};
template <class E, class T>
struct IsWordView<WordView<E, T>> : std::true_type {};

}  // namespace internal

template <class E>
inline constexpr bool kIsWordEngine =
    internal::IsWordView<typename E::template View<WordTxn>>::value;

// A state is copied as whole words.
template <class E>
constexpr size_t WordBytes() {
  static_assert(sizeof(typename E::State) % 8 == 0,
                "a state is a whole number of 8-byte words");
  return sizeof(typename E::State);
}

template <class E>
inline constexpr WordOps kWordOps = {WordBytes<E>(),
                                     kEngineOps<E, WordTxn>,
                                     &internal::WordOver<E>,
                                     &internal::CheckOwnInPlace<E>,
                                     &MakeCellBinding<E>,
                                     internal::Sharing<E>::kShare,
                                     internal::SharingAtAll<E>::kCanShare};

// The same for the packed form of an engine that has one.
template <class E>
inline constexpr WordOps kPackedOps = {
    WordBytes<PackedEngine<E>>(),
    kEngineOps<E, WordTxn>,
    &internal::WordOver<PackedEngine<E>>,
    &internal::CheckOwnInPlace<PackedEngine<E>>,
    &MakeCellBinding<PackedEngine<E>>,
    internal::NotShared<E>(),
    nullptr,
    &internal::Packing<E>::Pack,
    &internal::Packing<E>::Unpack,
    WordBytes<E>()};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_WORD_ENGINE_H_
