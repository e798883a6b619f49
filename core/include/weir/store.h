// A store: where state lives, and where a call is atomic.
//
// Users of weir make one (weir/memory_store.h, weir/redis_store.h) and hand it
// to their limiters. Authors of stores read on: a store runs the steps of a
// call, all or nothing, with one reading of the clock; a store whose data can
// be put behind a Txn runs EngineInfo::ops on it (weir/engine.h).
//
// State belongs to (namespace, rule name, algorithm, key): limiters on one
// store that name a rule alike share its state.
//
// Thread safety: every method, from any thread.
#ifndef WEIR_STORE_H_
#define WEIR_STORE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "weir/clock.h"
#include "weir/decision.h"
#include "weir/engine.h"
#include "weir/registry.h"
#include "weir/time.h"

namespace weir {

// kReserve charges one rule ahead of time if the wait is not too long.
enum class Op : uint8_t { kCheck, kPeek, kRefund, kReset, kReserve };

// A rule as one store knows it: whatever that store wants to find fast.
class StoreRule {
 public:
  virtual ~StoreRule() = default;
};

// One rule's part in a call.
struct Step {
  const StoreRule* rule = nullptr;
  std::string_view key = {};
  // What the keys of the call have in common; on a cluster it says where they
  // live. It begins the key, unless the limiter was told to trust its tags.
  std::string_view tag = {};
  int64_t cost = 1;
  // Its verdict does not count, and it is charged only if it passes itself.
  bool observe = false;
  // kReserve: the longest wait, us.
  int64_t max_wait = 0;
};

struct Outcome {
  // The rule's own verdict, before anything was charged.
  bool allowed = true;
  // In the state that the call leaves behind. kReserve: `wait` is how long the
  // caller has to wait for what it reserved, or would have had to.
  Numbers numbers = {};
};

// One of many calls that are made together: its steps, their outcomes, and how
// it went.
struct BatchedCall {
  const Step* steps = nullptr;
  Outcome* outcomes = nullptr;
  size_t count = 0;
  absl::Status status = {};
};

// How the numbers of a binding's decisions are read of the state that a call
// left behind.
struct StateNumbers {
  int64_t (*remaining)(const void* params, const void* state, int64_t t);
  int64_t (*wait)(const void* params, const void* state, int64_t t,
                  int64_t cost);
  int64_t (*reset_after)(const void* params, const void* state, int64_t t);
  const void* params;
  int64_t limit;  // the most that can pass at once
};

// What a bound check answers: either the state that the call left behind, or
// the numbers.
struct BoundOutcome {
  struct Known {
    Numbers numbers;
    int64_t limit;
  };

  // Of the state; lives as long as the binding. Null: the numbers are known.
  const StateNumbers* of;
  int64_t t;
  int64_t cost;
  union {
    int64_t state[5];
    Known known;
  };
  bool allowed;
  Source source;

  BoundOutcome() {}  // NOLINT: written by who decides, and not twice
  BoundOutcome(const BoundOutcome& other) noexcept { *this = other; }
  // Word by word, as it was written just before. Were it read in pairs of
  // words, as compilers like to, the processor would wait for them.
  BoundOutcome& operator=(const BoundOutcome& other) noexcept {
    static_assert(sizeof(BoundOutcome) % 8 == 0);
    for (size_t i = 0; i < sizeof(BoundOutcome); i += 8) {
      int64_t word;
      std::memcpy(&word, reinterpret_cast<const char*>(&other) + i, 8);
      asm("" : "+r"(word));  // makes no pairs of them
      std::memcpy(reinterpret_cast<char*>(this) + i, &word, 8);
    }
    return *this;
  }
};

// One key of one rule, kept at hand. Thread safety: any thread.
class Binding {
 public:
  virtual ~Binding() = default;
  // As Store::Run with one step for this key, by the store's clock or at `t`,
  // in microseconds. False: nothing was done, and Check has to be asked. A
  // store answers here what it can without a detour.
  virtual bool TryCheck(int64_t cost, BoundOutcome* outcome) = 0;
  virtual bool TryCheckAt(int64_t t, int64_t cost, BoundOutcome* outcome) = 0;
  // The same, in any case. `now`: null, or the time.
  virtual absl::Status Check(const Time* now, int64_t cost,
                             BoundOutcome* outcome) = 0;
};

// The one rule of a limiter that has no other, as a store's quick checks see
// it: what makes a decision of an outcome, and what to do instead.
struct SingleRule {
  // From the call to the decision. Nothing of the call was looked at: it may
  // not be sound.
  using Check = absl::StatusOr<Decision> (*)(const SingleRule& single,
                                             std::string_view key,
                                             int64_t cost);
  using CheckAt = absl::StatusOr<Decision> (*)(const SingleRule& single,
                                               std::string_view key,
                                               int64_t cost, Time now);
  // One call for each key, each on its own. Adds its answer to `decisions`.
  using CheckMany = void (*)(const SingleRule& single,
                             absl::Span<const std::string_view> keys,
                             int64_t cost,
                             std::vector<absl::StatusOr<Decision>>* decisions);

  const StoreRule* rule = nullptr;
  std::string_view name = {};
  int64_t limit = 0;       // the most that can pass at once
  int64_t soft_above = 0;  // used above this is flagged
  // Decide in any case.
  Check check_in_full = nullptr;
  CheckAt check_at_in_full = nullptr;
  CheckMany check_many_in_full = nullptr;
};

// The quick checks of a store, for a rule: they decide what is asked most
// without a detour, and give everything else to those in full. Null: there are
// none.
struct QuickChecks {
  SingleRule::Check check = nullptr;
  SingleRule::CheckAt check_at = nullptr;
  SingleRule::CheckMany check_many = nullptr;
};

class Store {
 public:
  virtual ~Store() = default;

  // The store's own time.
  virtual Time Now() const = 0;

  // What callers who wait for their turn wait by: a SteadyClock, if the store
  // has none of its own.
  virtual const Clock& WaitingClock() const;

  // Makes a rule known. Cold: may lock and allocate. The same rule may be
  // attached any number of times, also with another limit of its algorithm:
  // then the newer limit rules the calls that name it, and each key's state is
  // carried over at its next call.
  virtual absl::StatusOr<std::shared_ptr<const StoreRule>> Attach(
      std::string_view rule_name, const CompiledLimit& limit) = 0;

  // Runs a call. `now`: the reading, if the caller has one; else the store's
  // clock is read once. Fills one outcome for each step. If the status is not
  // ok nothing was changed (Redis: see weir/redis_store.h).
  // ResourceExhausted: no room for a key that the store does not know.
  virtual absl::Status Run(Op op, std::optional<Time> now, const Step* steps,
                           Outcome* outcomes, size_t count) = 0;

  // Shorter ways for what is asked most, a check of one rule. `rule` was
  // attached here. Unless overridden: none.
  virtual QuickChecks QuickChecksOf(const StoreRule& rule) const;

  // Runs calls of one step each, each on its own, and tells how each one went.
  // Unless overridden: one Run after the other. A store may do better, and may
  // read its clock once for all.
  virtual void RunEach(Op op, std::optional<Time> now, const Step* steps,
                       Outcome* outcomes, absl::Status* statuses, size_t count);

  // Runs calls of any number of steps, each on its own, in their order where
  // they share a key. Unless overridden: one Run after the other.
  virtual void RunMany(Op op, std::optional<Time> now,
                       absl::Span<BatchedCall> calls);

  // As Run, without a blocked caller. `done` is called exactly once, possibly
  // before this returns, and in any case before the store is gone; until then
  // `steps`, the keys they name and `outcomes` stay. Unless overridden: Run,
  // for stores that decide at once.
  virtual void RunAsync(Op op, std::optional<Time> now, const Step* steps,
                        Outcome* outcomes, size_t count,
                        std::function<void(absl::Status)> done);

  // The status, which came from this store, tells of an outage: the store
  // could not decide, through no fault of the call or the configuration. Then
  // a limiter's outage policy answers. Unless overridden: never.
  virtual bool IsOutage(const absl::Status& status) const;

  // The status, which came from this store, leaves open whether the call was
  // run. Then a reservation that should have been given back is not given back
  // again. Unless overridden: never, as Run promises.
  virtual bool MayHaveRun(const absl::Status& status) const;

  // Keeps a key at hand for calls that come all the time. Null: this store has
  // nothing better than Run for it. `rule` was attached here; the binding may
  // not outlive the store.
  virtual absl::StatusOr<std::unique_ptr<Binding>> Bind(const StoreRule& rule,
                                                        std::string_view key);
};

}  // namespace weir

#endif  // WEIR_STORE_H_
