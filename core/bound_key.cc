#include "weir/bound_key.h"

#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "core/limiter_state.h"

namespace weir {

// A key as bound under one set of rules.
struct BoundKey::State {
  struct Bound {
    const RuleSet* set = nullptr;
    // `set`, or null: calls go by key, and there is no binding.
    const RuleSet* quick = nullptr;
    std::unique_ptr<Binding> binding;
  };

  State(std::shared_ptr<Limiter::State> l, std::string_view k)
      : limiter(std::move(l)), key(k) {}

  // What is bound under the rules of now: of this call, or later ones, whatever
  // other calls bind meanwhile.
  absl::StatusOr<const Bound*> Rebind() {
    // acquire: pairs with the release below.
    const Bound* now = current.load(std::memory_order_acquire);
    if (now != nullptr && now->set == &limiter->rules()) return now;
    const std::lock_guard<std::mutex> lock(mutex);
    // Read under the lock, so that `current` does not go back to rules that
    // were replaced before another call bound.
    const RuleSet& set = limiter->rules();
    for (const auto& bound : all) {
      if (bound->set != &set) continue;
      current.store(bound.get(), std::memory_order_release);
      return bound.get();
    }
    auto bound = std::make_unique<Bound>();
    bound->set = &set;
    if (const AttachedLimit* single = set.single(); single != nullptr) {
      auto binding = limiter->store->Bind(*single->rule, key);
      if (!binding.ok()) return binding.status();
      bound->binding = *std::move(binding);
      if (bound->binding != nullptr) bound->quick = &set;
    }
    all.push_back(std::move(bound));
    // release: pairs with the acquire in Ready.
    current.store(all.back().get(), std::memory_order_release);
    return all.back().get();
  }

  // What decides a sound call under the rules of now; null: Decide does.
  const Bound* Ready(int64_t cost) const {
    // acquire: pairs with the release in Rebind.
    const Bound* bound = current.load(std::memory_order_acquire);
    return __builtin_expect(bound->quick == &limiter->rules() &&
                                RuleSet::SingleCallIsSound({}, cost),
                            1)
               ? bound
               : nullptr;
  }

  // In any case.
  absl::Status Decide(int64_t cost, const Time* now, BoundDecision* d) {
    const absl::StatusOr<const Bound*> bound = Rebind();
    // Without room for a new binding, what the key has by now may still do.
    if (!bound.ok() || (*bound)->binding == nullptr ||
        (now != nullptr && !RuleSet::TimeIsSound(*now)) ||
        !RuleSet::SingleCallIsSound({}, cost)) {
      return DecideByKey(cost, now, d);
    }
    absl::Status s = (*bound)->binding->Check(now, cost, &d->outcome_);
    return s.ok() ? s : Failed(std::move(s), *(*bound)->set, cost, now, d);
  }

  absl::Status DecideByKey(int64_t cost, const Time* now, BoundDecision* d) {
    const std::string_view view = key;
    Call call = CallOf(view, cost);
    if (now != nullptr) call.now = *now;
    absl::StatusOr<Decision> decision = limiter->Run(Op::kCheck, call);
    return Take(decision, d);
  }

  // The binding could not decide.
  absl::Status Failed(absl::Status error, const RuleSet& set, int64_t cost,
                      const Time* now, BoundDecision* d) {
    const std::string_view view = key;
    Call call = CallOf(view, cost);
    if (now != nullptr) call.now = *now;
    return Take(set.SingleFailed(*limiter->store, std::move(error), call), d);
  }

  static absl::Status Take(const absl::StatusOr<Decision>& decision,
                           BoundDecision* d) {
    if (!decision.ok()) return decision.status();
    BoundOutcome& outcome = d->outcome_;
    outcome.of = nullptr;
    outcome.known.numbers = {
        decision->remaining,
        decision->never() ? kNever : decision->retry_after->count(),
        decision->reset_after.count()};
    outcome.known.limit = decision->limit;
    outcome.allowed = decision->allowed;
    outcome.source = decision->source;
    return absl::OkStatus();
  }

  const std::shared_ptr<Limiter::State> limiter;
  const std::string key;
  std::atomic<const Bound*> current{nullptr};
  std::mutex mutex;  // guards `all`
  // One for each set of rules that was asked. Those of replaced ones are kept:
  // a call may still be at work with one, and their rules may come back.
  std::vector<std::unique_ptr<const Bound>> all;
};

BoundKey::BoundKey(std::unique_ptr<State> state) : state_(std::move(state)) {}
BoundKey::BoundKey(BoundKey&&) noexcept = default;
BoundKey& BoundKey::operator=(BoundKey&&) noexcept = default;
BoundKey::~BoundKey() = default;

std::string_view BoundKey::key() const { return state_->key; }

absl::StatusOr<BoundKey> Limiter::Bind(std::string_view key) const {
  if (absl::Status s = state_->rules().CheckCall(CallOf(key, 0)); !s.ok()) {
    return s;
  }
  auto state = std::make_unique<BoundKey::State>(state_, key);
  if (absl::Status s = state->Rebind().status(); !s.ok()) return s;
  return BoundKey(std::move(state));
}

// Apart, and the same for both, so that the quick ways stay short.
ABSL_ATTRIBUTE_NOINLINE void BoundKey::CheckSlowly(
    int64_t cost, const Time* now, absl::StatusOr<BoundDecision>* d) const {
  if (absl::Status s = state_->Decide(cost, now, &**d); !s.ok()) {
    *d = std::move(s);
  }
}

absl::StatusOr<BoundDecision> BoundKey::Check(int64_t cost) const {
  // One value on every way out: it is made where the caller wants it.
  absl::StatusOr<BoundDecision> d(absl::in_place);
  BoundDecision& decision = *d;
  const State::Bound* bound = state_->Ready(cost);
  if (__builtin_expect(bound == nullptr ||
                           !bound->binding->TryCheck(cost, &decision.outcome_),
                       0)) {
    CheckSlowly(cost, nullptr, &d);
  }
  return d;
}

absl::StatusOr<BoundDecision> BoundKey::CheckAt(Time now, int64_t cost) const {
  absl::StatusOr<BoundDecision> d(absl::in_place);
  BoundDecision& decision = *d;
  const State::Bound* bound = state_->Ready(cost);
  if (__builtin_expect(bound == nullptr || !RuleSet::TimeIsSound(now) ||
                           !bound->binding->TryCheckAt(ToMicros(now), cost,
                                                       &decision.outcome_),
                       0)) {
    CheckSlowly(cost, &now, &d);
  }
  return d;
}

}  // namespace weir
