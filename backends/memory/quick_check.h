// What is asked most, a check of one rule by key, as one piece of code from the
// call to the decision: one for each engine whose state is one small struct.
// Whatever is not the usual case it gives to the check in full, from the
// beginning and with nothing done.
#ifndef WEIR_BACKENDS_MEMORY_QUICK_CHECK_H_
#define WEIR_BACKENDS_MEMORY_QUICK_CHECK_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/memory/keeper.h"
#include "backends/memory/limit_record.h"
#include "backends/memory/spin_lock.h"
#include "backends/memory/state_steps.h"
#include "backends/memory/time_source.h"
#include "backends/memory/word_engine.h"
#include "core/single_decision.h"
#include "weir/store.h"

namespace weir {

// Where a key's state may lie.
struct Probe {
  uint64_t hash;
  Stripe* stripe;
  Index::Spot spot;
};

// What the time of a call is read from: the store's own clock, the user's, or
// what the caller gave.
struct OwnTime {
  static constexpr bool kSteady = true;
  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t operator()() const {
    return source->ReadOwn();
  }
  const TimeSource* source;
};
struct UsersTime {
  static constexpr bool kSteady = false;
  int64_t operator()() const { return source->Read(); }
  const TimeSource* source;
};
struct CallersTime {
  static constexpr bool kSteady = false;
  int64_t operator()() const { return t; }
  int64_t t;
};

// A check of one rule, its engine E.
template <class E>
class Quick {
 public:
  explicit Quick(const LimitRecord& record, int64_t cost)
      : record_(record), cost_(cost) {}

  // A key and a cost that are sound, the key short enough to lie in its entry.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool Takes(std::string_view key) const {
    return !Slot::LiesApart(key.size(), kStateBytes) &&
           static_cast<uint64_t>(cost_) <= static_cast<uint64_t>(kMaxExact);
  }
  // Asks for the line of the index.
  ABSL_ATTRIBUTE_ALWAYS_INLINE Probe ProbeFor(std::string_view key) const {
    Keeper& keeper = *record_.keeper;
    const uint64_t hash = keeper.context().hash(record_.seed, key);
    Stripe& stripe = keeper.stripe(keeper.StripeOf(hash));
    return {hash, &stripe, stripe.Glimpse(hash)};
  }
  // Decides by a state that is there and can be used as it is. False, and
  // nothing is done: it is not. `t`, which `read` gave, may be of before the
  // lock: a state that lies too far ahead of it can't be used. `find`: gives
  // the entry, or none.
  template <class Reader, class Find>
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool Decide(const Probe& probe,
                                           std::string_view key, Reader read,
                                           int64_t t, Outcome* outcome,
                                           Find find) const {
    Stripe& stripe = *probe.stripe;
    const SpinLockHolder lock(&stripe.mutex);
    const Table::Entry entry = find(stripe.table);
    if (__builtin_expect(!entry, 0)) {
      // By value both ways, so that the usual way keeps all in registers.
      const std::optional<Outcome> made =
          DecideNew(record_, cost_, probe.hash, &stripe, key, read);
      if (!made.has_value()) return false;
      *outcome = *made;
      return true;
    }
    if (__builtin_expect(
            !internal::CheckInPlace<E, QuickSteps<E>>(
                *static_cast<const typename E::Params*>(record_.params),
                entry.p + (BytesFor(key) - kStateBytes), t, cost_,
                record_.counts_denied, outcome),
            0)) {
      return false;
    }
    if (cost_ > 0) record_.keeper->Tick(stripe, t, Reader::kSteady, false);
    return true;
  }
  template <class Reader>
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool Decide(const Probe& probe,
                                           std::string_view key, Reader read,
                                           int64_t t, Outcome* outcome) const {
    return Decide(
        probe, key, read, t,
        outcome, [&](const Table& table) __attribute__((always_inline)) {
          return Find(probe, table, key);
        });
  }
  // The lock of the stripe is held.
  ABSL_ATTRIBUTE_ALWAYS_INLINE Table::Entry Find(const Probe& probe,
                                                 const Table& table,
                                                 std::string_view key) const {
    return table.FindPlainAt(probe.spot, probe.hash, record_, BytesFor(key),
                             key);
  }

 private:
  // The same for a key that has no state, if it passes and there is room. What
  // it takes the call in full would take, with the same result.
  template <class Reader>
  ABSL_ATTRIBUTE_NOINLINE static std::optional<Outcome> DecideNew(
      const LimitRecord& record, int64_t cost, uint64_t hash, Stripe* stripe,
      std::string_view key, Reader read) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    Keeper& keeper = *record.keeper;
    Table& table = stripe->table;
    // There may be an entry that can't be used as it is, and keys without one
    // may go by what they share.
    if (cost == 0 || record.shared != nullptr ||
        table.Find(hash, record, key)) {
      return std::nullopt;
    }
    // A reading of before the lock could be of long before.
    const int64_t t = read();
    const auto& p = *static_cast<const typename E::Params*>(record.params);
    Outcome outcome;
    char state[kStateBytes];
    const typename E::State fresh = E::Fresh(p, t);
    std::memcpy(state, &fresh, sizeof(state));
    if (!internal::CheckInPlace<E, QuickSteps<E>>(p, state, t, cost, false,
                                                  &outcome) ||
        !outcome.allowed) {
      return std::nullopt;
    }
    // What is taken here is the entry's, or goes back.
    if (!keeper.context().records.Hold(record)) return std::nullopt;
    auto let_go = absl::MakeCleanup([&] { record.uses.Drop(); });
    if (!table.HasRoom(record, key) ||
        !keeper.ReserveNear(stripe, t, Reader::kSteady)) {
      return std::nullopt;
    }
    auto release = absl::MakeCleanup([&] { keeper.Release(1); });
    const Table::Entry entry = table.Insert(hash, record, key);
    std::move(release).Cancel();
    std::move(let_go).Cancel();
    std::memcpy(entry.state(sizeof(state)), state, sizeof(state));
    keeper.Tick(*stripe, t, Reader::kSteady, true);
    return outcome;
  }

  static constexpr size_t kStateBytes = WordBytes<E>();
  static size_t BytesFor(std::string_view key) {
    return Slot::BytesInPlace(key.size(), kStateBytes);
  }

  const LimitRecord& record_;
  const int64_t cost_;
};

// What is waited for anyway is waited for at once: the line of the index is on
// its way, and the clock is read, while the last call ends, of which the lock
// would wait for the end.
template <class E, class Reader>
__attribute__((flatten)) absl::StatusOr<Decision> QuickCheck(
    const SingleRule& single, std::string_view key, int64_t cost) {
  const auto& record = static_cast<const LimitRecord&>(*single.rule);
  const Quick<E> quick(record, cost);
  if (__builtin_expect(quick.Takes(key), 1)) {
    const Probe probe = quick.ProbeFor(key);
    const Reader read{record.time};
    const int64_t t = read();
    Outcome outcome;
    if (__builtin_expect(quick.Decide(probe, key, read, t, &outcome), 1)) {
      return absl::StatusOr<Decision>(absl::in_place,
                                      SingleDecision(single, outcome));
    }
  }
  return single.check_in_full(single, key, cost);
}

template <class E>
__attribute__((flatten)) absl::StatusOr<Decision> QuickCheckAt(
    const SingleRule& single, std::string_view key, int64_t cost, Time now) {
  const int64_t t = ToMicros(now);
  const Quick<E> quick(static_cast<const LimitRecord&>(*single.rule), cost);
  if (__builtin_expect(quick.Takes(key) && t <= kMaxExact && t >= -kMaxExact,
                       1)) {
    Outcome outcome;
    if (__builtin_expect(
            quick.Decide(quick.ProbeFor(key), key, CallersTime{t}, t, &outcome),
            1)) {
      return absl::StatusOr<Decision>(absl::in_place,
                                      SingleDecision(single, outcome));
    }
  }
  return single.check_at_in_full(single, key, cost, now);
}

// In steps, each for many keys, so that they wait for memory together: first
// the lines of the index, then the entries. One reading for all of them.
template <class E, class Reader>
__attribute__((flatten)) void QuickCheckMany(
    const SingleRule& single, absl::Span<const std::string_view> keys,
    int64_t cost, std::vector<absl::StatusOr<Decision>>* decisions) {
  constexpr size_t kAtOnce = 64;
  // Where an entry may lie: true until the next removal of its stripe.
  struct Guess {
    Table::Entry entry;
    uint32_t removals;
  };
  const auto& record = static_cast<const LimitRecord&>(*single.rule);
  const Quick<E> quick(record, cost);
  Probe probes[kAtOnce];
  Guess guesses[kAtOnce];
  for (; !keys.empty(); keys.remove_prefix(std::min(keys.size(), kAtOnce))) {
    const absl::Span<const std::string_view> batch = keys.subspan(0, kAtOnce);
    for (size_t i = 0; i < batch.size(); ++i) {
      probes[i] = quick.ProbeFor(batch[i]);
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      Stripe& stripe = *probes[i].stripe;
      const SpinLockHolder lock(&stripe.mutex);
      guesses[i] = {stripe.table.Guess(probes[i].spot, probes[i].hash),
                    stripe.table.removals()};
    }
    const Reader read{record.time};
    const int64_t t = read();
    for (size_t i = 0; i < batch.size(); ++i) {
      const std::string_view key = batch[i];
      const auto find = [&](const Table& table) __attribute__((always_inline)) {
        const Guess& guess = guesses[i];
        return guess.removals == table.removals() &&
                       table.IsPlain(guess.entry, record, key)
                   ? guess.entry
                   : quick.Find(probes[i], table, key);
      };
      Outcome outcome;
      if (__builtin_expect(
              quick.Takes(key) &&
                  quick.Decide(probes[i], key, read, t, &outcome, find),
              1)) {
        decisions->emplace_back(absl::in_place,
                                SingleDecision(single, outcome));
      } else {
        decisions->push_back(single.check_in_full(single, key, cost));
      }
    }
  }
}

template <class E, class Reader>
inline constexpr QuickChecks kQuickChecks = {
    &QuickCheck<E, Reader>, &QuickCheckAt<E>, &QuickCheckMany<E, Reader>};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_QUICK_CHECK_H_
