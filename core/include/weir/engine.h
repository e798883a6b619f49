// An engine: one algorithm, as a type. Read this to write your own; to use
// weir, weir/limiter.h is enough.
//
// An engine E is a struct that has
//
//   kName    its name in limits.json
//   kDoc     what people read in `weir list`
//   kFields  its parameters; the first one, if a number, is the limit, and a
//            limit of 0 never reaches the engine (it denies everything)
//   Params   its parameters as it wants them, made once
//   static absl::StatusOr<Params> Compile(const Fields&, int64_t now_us);
//   static Traits TraitsOf(const Params&);
//   template <class T> View   one key, opened inside one atomic step
//
// A View<T> works on a Txn of type T:
//
//   View(T& txn, const Params&, const Params* old, int64_t t)
//       reads, and writes nothing. `old`: what the state was written under, if
//       that is something else.
//   bool Admits(int64_t cost) const     would a call of this cost pass?
//   void Charge(int64_t cost)           records it, whatever Admits says
//   void Refund(int64_t n)              takes back at most what is used
//   void Settle()                       stores the cut of a jumped clock
//   int64_t Remaining() const
//   int64_t Wait(int64_t cost) const    0: passes now; kNever: never will
//   int64_t ResetAfter() const
//
// An engine whose state is a small struct writes none of this: it gives pure
// functions of (state, time, cost) and takes WordView (weir/word_view.h, which
// this includes). Counts and costs are at most kMaxExact, times are
// microseconds, arithmetic is exact; a cost above the limit is Wait == kNever.
// docs/adding-an-engine.md walks through one.
#ifndef WEIR_ENGINE_H_
#define WEIR_ENGINE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "weir/limit.h"
#include "weir/script.h"
#include "weir/txn.h"
#include "weir/word_view.h"

namespace weir {

// No wait ever helps.
inline constexpr int64_t kNever = -1;

// The same as a duration: nothing for kNever.
inline std::optional<Micros> WaitOf(int64_t wait) {
  if (wait == kNever) return std::nullopt;
  return Micros(wait);
}

enum class FieldType : uint8_t { kCount, kDuration, kReal, kBool, kWord };

// One parameter of an algorithm. `min` and `max` bound counts, and durations
// in microseconds; a real is above `above` and at most `most`.
struct Field {
  std::string_view name = {};
  FieldType type = FieldType::kCount;
  std::string_view doc = {};
  // What holds when it is left out, for people. Empty: it must be given.
  std::string_view fallback = {};
  int64_t min = 1;
  int64_t max = 1'000'000'000'000;
  // The choices of a kWord, separated by '|'.
  std::string_view words = {};
  double above = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  // Told behind what is allowed, to who asks for more: "; fixed_window ...".
  std::string_view instead = {};
};

inline constexpr int64_t kMaxWindowUs =
    int64_t{100} * 366 * 24 * 3600 * 1'000'000;

// A field of type kDuration, from 1 us to 100 years.
constexpr Field DurationField(std::string_view name, std::string_view doc,
                              std::string_view fallback = "",
                              int64_t min_us = 1) {
  return {name, FieldType::kDuration, doc, fallback, min_us, kMaxWindowUs, ""};
}

// A field of type kReal that must be given.
constexpr Field RealField(std::string_view name, std::string_view doc,
                          double above, double most) {
  Field field = {name, FieldType::kReal, doc};
  field.above = above;
  field.most = most;
  return field;
}

// What people read about an algorithm.
struct EngineDoc {
  std::string_view summary = {};     // one sentence: what it promises
  std::string_view worst_case = {};  // the most it admits in a span
  std::string_view state = {};       // bytes a key, time a call
  std::string_view choose = {};      // when to choose it
  std::string_view source = {};      // where the algorithm comes from
  // Parameters that make sense: "limit=100 window=1s".
  std::string_view example = {};
};

// A limit's parameters, known and of the right type, each within its bounds.
class Fields {
 public:
  explicit Fields(const Limit& limit) : limit_(limit) {}
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  int64_t Count(std::string_view name, int64_t fallback = 0) const;
  // In microseconds.
  int64_t Duration(std::string_view name, int64_t fallback_us = 0) const;
  double Real(std::string_view name, double fallback = 0) const;
  bool Bool(std::string_view name, bool fallback = false) const;
  std::string_view Word(std::string_view name, std::string_view fallback) const;

 private:
  const FieldValue* Find(std::string_view name) const;
  const Limit& limit_;
};

// What the rest of weir needs to know of a limit's parameters.
struct Traits {
  int64_t capacity = 0;       // the most that passes at once on a fresh key
  int64_t window_us = 0;      // the window, or the time to refill `limit`
  bool count_denied = false;  // denied calls are charged too
  // The longest wait that may be reserved; kNever: no reservations.
  int64_t max_wait_us = kNever;
};

// The arguments of one step of one engine.
struct StepArgs {
  const void* params = nullptr;
  const void* old_params = nullptr;  // null: the state was written under params
  int64_t t = 0;                     // the reading, us
  int64_t cost = 0;
  bool wants_wait = true;  // else Numbers::wait is 0
};

// What an engine says of a key at StepArgs::t, as in Decision.
struct Numbers {
  int64_t remaining = 0;    // how many calls of cost 1 would pass
  int64_t wait = 0;         // until a call of this cost passes, us; kNever
  int64_t reset_after = 0;  // until the key equals a fresh one, us
};

// What a step does to its key.
enum class Action : uint8_t { kLook, kSettle, kCharge, kRefund };

// An engine's steps, compiled against one kind of Txn.
template <class T>
struct EngineOps {
  // Would it pass? Writes nothing.
  bool (*admits)(T&, const StepArgs&) = nullptr;
  // Acts, and answers with the numbers of the state that this leaves behind.
  Numbers (*apply)(T&, const StepArgs&, Action) = nullptr;
  // A check of this rule alone: both of the above, the key read once.
  Numbers (*check)(T&, const StepArgs&, bool count_denied,
                   bool* allowed) = nullptr;
};

namespace internal {

template <class E, class T>
typename E::template View<T> Open(T& txn, const StepArgs& a) {
  using Params = typename E::Params;
  return typename E::template View<T>(
      txn, *static_cast<const Params*>(a.params),
      static_cast<const Params*>(a.old_params), a.t);
}

template <class V>
void Act(V& view, Action action, int64_t cost) {
  switch (action) {
    case Action::kLook:
      break;
    case Action::kSettle:
      view.Settle();
      break;
    case Action::kCharge:
      view.Charge(cost);
      break;
    case Action::kRefund:
      view.Refund(cost);
      break;
  }
}

template <class V>
Numbers Report(const V& view, int64_t cost, bool wants_wait) {
  return {view.Remaining(), wants_wait ? view.Wait(cost) : 0,
          view.ResetAfter()};
}

template <class E, class T>
bool Admits(T& txn, const StepArgs& a) {
  return Open<E>(txn, a).Admits(a.cost);
}

template <class E, class T>
Numbers Apply(T& txn, const StepArgs& a, Action action) {
  auto view = Open<E>(txn, a);
  Act(view, action, a.cost);
  return Report(view, a.cost, a.wants_wait);
}

}  // namespace internal

// What a check does to a key once the verdict on the whole call is known.
constexpr Action CheckAction(bool allowed, bool count_denied, int64_t cost) {
  if (cost == 0) return Action::kLook;
  return allowed || count_denied ? Action::kCharge : Action::kSettle;
}

namespace internal {

template <class E, class T>
Numbers Check(T& txn, const StepArgs& a, bool count_denied, bool* allowed) {
  auto view = Open<E>(txn, a);
  *allowed = view.Admits(a.cost);
  Act(view, CheckAction(*allowed, count_denied, a.cost), a.cost);
  return Report(view, a.cost, !*allowed);
}

}  // namespace internal

// The steps of E over a Txn of type T.
template <class E, class T>
inline constexpr EngineOps<T> kEngineOps = {
    &internal::Admits<E, T>, &internal::Apply<E, T>, &internal::Check<E, T>};

// An engine as a value: what a Registry holds.
struct EngineInfo {
  struct Compiled {
    std::shared_ptr<const void> params;
    Traits traits;
  };

  std::string_view name;
  EngineDoc doc;
  absl::Span<const Field> fields;
  absl::StatusOr<Compiled> (*compile)(const Fields&, int64_t now_us);
  // For stores that know nothing of this engine.
  EngineOps<Txn> ops;
  // For stores that run scripts; null: it has no Lua half.
  const EngineScript* script = nullptr;
};

namespace internal {

template <class E>
absl::StatusOr<EngineInfo::Compiled> Compile(const Fields& fields,
                                             int64_t now_us) {
  absl::StatusOr<typename E::Params> params = E::Compile(fields, now_us);
  if (!params.ok()) return params.status();
  return EngineInfo::Compiled{
      std::make_shared<const typename E::Params>(*params),
      E::TraitsOf(*params)};
}

// The numbers of the state that a script left behind.
template <class E>
Numbers ReadReply(const void* params, std::string_view bytes,
                  const StepArgs& a) {
  const auto& p = *static_cast<const typename E::Params*>(params);
  if constexpr (kReadsState<E>) {
    const typename E::State s = E::ReadState(bytes);
    return {E::Remaining(p, s, a.t),
            a.wants_wait ? E::Wait(p, s, a.t, a.cost) : 0,
            ResetAfter<E>(p, s, a.t)};
  } else {
    return E::ReadNumbers(p, bytes, a);
  }
}

template <class E>
inline constexpr EngineScript kScript = {E::kScriptBytes, &WriteRecord<E>,
                                         &WriteStep<E>, &ReadReply<E>};

template <class E>
constexpr const EngineScript* ScriptOf() {
  if constexpr (kHasScript<E>) {
    return &kScript<E>;
  } else {
    return nullptr;
  }
}

}  // namespace internal

// E as a value; a constant, made at compile time.
template <class E>
inline constexpr EngineInfo kEngine = {
    E::kName,           E::kDoc,
    E::kFields,         &internal::Compile<E>,
    kEngineOps<E, Txn>, internal::ScriptOf<E>()};

}  // namespace weir

#endif  // WEIR_ENGINE_H_
