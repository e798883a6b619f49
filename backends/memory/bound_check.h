// A handle's check on its cell, for an engine whose state is one small struct.
#ifndef WEIR_BACKENDS_MEMORY_BOUND_CHECK_H_
#define WEIR_BACKENDS_MEMORY_BOUND_CHECK_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "backends/memory/bound_cell.h"
#include "backends/memory/state_steps.h"
#include "backends/memory/time_source.h"
#include "core/time_stamp_counter.h"
#include "weir/engine.h"
#include "weir/store.h"

namespace weir {

// The store, as a handle sees it.
class CellHost {
 public:
  virtual ~CellHost() = default;
  // Null: the clock is the user's own.
  virtual const FastClock* fast_clock() const = 0;
  virtual const Clock& clock() const = 0;
  virtual absl::Status CheckByKey(const LimitRecord& record,
                                  std::string_view key, const Time* now,
                                  int64_t cost, BoundOutcome* outcome) = 0;
  virtual void Unbind(const LimitRecord& record, std::string_view key,
                      BoundCell* cell) = 0;
};

// Each gives a decision's numbers from the state that a call left behind.
template <class E>
struct NumbersOf {
  using P = typename E::Params;
  using S = typename E::State;
  static S Read(const void* state) {
    S s;
    std::memcpy(&s, state, sizeof(s));
    return s;
  }
  static int64_t Remaining(const void* p, const void* s, int64_t t) {
    return Look(p, s, t, [](auto steps) { return steps.Remaining(); });
  }
  static int64_t Wait(const void* p, const void* s, int64_t t, int64_t cost) {
    return Look(p, s, t, [cost](auto steps) { return steps.Wait(cost); });
  }
  static int64_t ResetAfter(const void* p, const void* s, int64_t t) {
    return Look(p, s, t, [](auto steps) { return steps.ResetAfter(); });
  }

 private:
  template <class F>
  static int64_t Look(const void* params, const void* state, int64_t t, F f) {
    const P& p = *static_cast<const P*>(params);
    const S s = Read(state);
    if constexpr (kHasQuickSteps<E>) {
      if (__builtin_expect(QuickSteps<E>::Hold(p, s, t), 1)) {
        return f(QuickSteps<E>(p, s, t));
      }
    }
    return f(OwnSteps<E>(p, s, t));
  }
};

enum class CellAnswer {
  kDecided,
  kAgain,  // it changed meanwhile, or is busy
  kFar,    // these steps don't hold for the state
  kByKey,  // the state is of another limit
};

// What checks on a cell need of its record, which they can't know here.
struct CellRule {
  const void* params;
  int64_t limit;
  bool count_denied;
};

// Decides once. Unless it is kDecided, nothing was done. Steps: see
// state_steps.h; counts_denied(): are denied calls charged?
template <class E, class Steps, class CountsDenied>
ABSL_ATTRIBUTE_ALWAYS_INLINE inline CellAnswer CheckCell(
    BoundCell& cell, const LimitRecord& record, const StateNumbers& numbers,
    CountsDenied counts_denied, int64_t t, int64_t cost, BoundOutcome* out) {
  using State = typename E::State;
  // It is kept as whole words.
  static_assert(sizeof(State) % 8 == 0 && sizeof(State) <= BoundCell::kBytes);
  const uint64_t version = cell.Version();
  if (__builtin_expect(BoundCell::Busy(version), 0)) return CellAnswer::kAgain;
  State s;
  const bool ours = cell.record() == &record;
  const bool present = cell.Load<sizeof(State)>(&s);
  // No engine is run on words of two states.
  if (__builtin_expect(!cell.Unchanged(version), 0)) return CellAnswer::kAgain;
  if (__builtin_expect(!ours, 0)) return CellAnswer::kByKey;
  const auto& p = *static_cast<const typename E::Params*>(numbers.params);
  if (__builtin_expect(!present, 0)) s = E::Fresh(p, t);
  if (__builtin_expect(!Steps::Hold(p, s, t), 0)) return CellAnswer::kFar;
  Steps steps(p, s, t);
  // Nothing is written before the swap, which waits for all that is.
  const auto charge = [&]() __attribute__((always_inline)) {
    steps.Charge(cost);
    s = steps.state();
    if (__builtin_expect(!cell.TryLock(version), 0)) return false;
    cell.Store(reinterpret_cast<const char*>(&s), sizeof(s));
    cell.Unlock(version);
    return true;
  };
  const auto answer = [&](bool allowed) __attribute__((always_inline)) {
    out->of = &numbers;
    out->t = t;
    out->cost = cost;
    StoreWords(reinterpret_cast<char*>(out->state), &s, sizeof(s));
    out->allowed = allowed;
    out->source = Source::kStore;
    return CellAnswer::kDecided;
  };
  if (steps.Admits(cost)) {
    if (cost != 0 && !charge()) return CellAnswer::kAgain;
    return answer(true);
  }
  if (CheckAction(false, counts_denied(), cost) == Action::kCharge &&
      !charge()) {
    return CellAnswer::kAgain;
  }
  return answer(false);
}

template <class E>
class CellBinding final : public Binding {
 public:
  CellBinding(CellHost* host, const LimitRecord* record, const CellRule& rule,
              std::string_view key, BoundCell* cell)
      : cell_(cell),
        fast_(host->fast_clock()),
        host_(host),
        record_(record),
        count_denied_(rule.count_denied),
        numbers_{&NumbersOf<E>::Remaining, &NumbersOf<E>::Wait,
                 &NumbersOf<E>::ResetAfter, rule.params, rule.limit},
        key_(key) {}
  ~CellBinding() override { host_->Unbind(*record_, key_, cell_); }
  CellBinding(const CellBinding&) = delete;
  CellBinding& operator=(const CellBinding&) = delete;

  __attribute__((flatten)) bool TryCheck(int64_t cost,
                                         BoundOutcome* outcome) override {
    int64_t t;
    return __builtin_expect(fast_ != nullptr, 1) && fast_->TryEarly(&t) &&
           Once<QuickSteps<E>>(t, cost, outcome) == CellAnswer::kDecided;
  }
  __attribute__((flatten)) bool TryCheckAt(int64_t t, int64_t cost,
                                           BoundOutcome* outcome) override {
    return Once<QuickSteps<E>>(t, cost, outcome) == CellAnswer::kDecided;
  }

  absl::Status Check(const Time* now, int64_t cost,
                     BoundOutcome* outcome) override {
    const int64_t t = now != nullptr     ? ToMicros(*now)
                      : fast_ != nullptr ? fast_->Early()
                                         : TimeSource::ReadOf(host_->clock());
    for (Patience patience;; patience.Wait()) {
      switch (Once<OwnSteps<E>>(t, cost, outcome)) {
        case CellAnswer::kDecided:
          return absl::OkStatus();
        case CellAnswer::kFar:  // left behind by a clock that jumped
        case CellAnswer::kByKey:
          return host_->CheckByKey(*record_, key_, now, cost, outcome);
        case CellAnswer::kAgain:
          break;
      }
    }
  }

 private:
  template <class Steps>
  CellAnswer Once(int64_t t, int64_t cost, BoundOutcome* outcome) {
    return CheckCell<E, Steps>(
        *cell_, *record_, numbers_,
        [this]() __attribute__((always_inline)) { return count_denied_; }, t,
        cost, outcome);
  }

  BoundCell* const cell_;
  const FastClock* const fast_;
  CellHost* const host_;
  const LimitRecord* const record_;
  const bool count_denied_;
  const StateNumbers numbers_;
  const std::string key_;
};

using MakeBinding = std::unique_ptr<Binding> (*)(CellHost*, const LimitRecord*,
                                                 const CellRule&,
                                                 std::string_view key,
                                                 BoundCell*);

template <class E>
std::unique_ptr<Binding> MakeCellBinding(CellHost* host,
                                         const LimitRecord* record,
                                         const CellRule& rule,
                                         std::string_view key,
                                         BoundCell* cell) {
  return std::make_unique<CellBinding<E>>(host, record, rule, key, cell);
}

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_BOUND_CHECK_H_
