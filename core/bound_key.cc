#include "weir/bound_key.h"

#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "core/limiter_state.h"
#include "core/text.h"

namespace weir {

// A key as bound under one set of rules.
struct BoundKey::State {
  struct Bound {
    const RuleSet* set = nullptr;
    const StoreRule* rule = nullptr;
    int64_t limit = 0;
    // Null: calls go by key.
    std::unique_ptr<Binding> binding;
  };

  State(std::shared_ptr<Limiter::State> l, std::string_view k)
      : limiter(std::move(l)), key(k) {}

  // Binds under the rules of now, unless that is done.
  absl::Status Rebind() {
    const RuleSet& set = limiter->rules();
    // acquire: pairs with the release below.
    const Bound* now = current.load(std::memory_order_acquire);
    if (now != nullptr && now->set == &set) return absl::OkStatus();
    const std::lock_guard<std::mutex> lock(mutex);
    for (const auto& bound : all) {
      if (bound->set != &set) continue;
      current.store(bound.get(), std::memory_order_release);
      return absl::OkStatus();
    }
    auto bound = std::make_unique<Bound>();
    bound->set = &set;
    if (const AttachedLimit* single = set.single(); single != nullptr) {
      auto binding = limiter->store->Bind(*single->rule, key);
      if (!binding.ok()) return binding.status();
      bound->rule = single->rule.get();
      bound->limit = single->limit.traits.capacity;
      bound->binding = *std::move(binding);
    }
    all.push_back(std::move(bound));
    // release: pairs with the acquire in Decide.
    current.store(all.back().get(), std::memory_order_release);
    return absl::OkStatus();
  }

  // Whatever the rules and the call are. Apart, as Failed is, so that the short
  // way keeps what it needs in registers.
  ABSL_ATTRIBUTE_NOINLINE void DecideSlowly(
      int64_t cost, const Time* now, absl::StatusOr<BoundDecision>* answer) {
    if (absl::Status s = Rebind(); !s.ok()) {
      *answer = std::move(s);
      return;
    }
    // acquire: pairs with the release in Rebind.
    const Bound* bound = current.load(std::memory_order_acquire);
    if (bound->binding == nullptr ||
        (now != nullptr && !RuleSet::TimeIsSound(*now)) ||
        !RuleSet::SingleCallIsSound({}, cost)) {
      const std::string_view view = key;
      Take(limiter->Run(Op::kCheck, CallAt(view, cost, now)), answer);
      return;
    }
    BoundDecision& d = **answer;
    d.limit_ = bound->limit;
    absl::Status error;
    if (!bound->binding->Check(*bound->rule, now, cost, &d.outcome_, &error)) {
      Failed(std::move(error), *bound->set, cost, now, answer);
    }
  }

  // The binding could not decide.
  ABSL_ATTRIBUTE_NOINLINE void Failed(absl::Status error, const RuleSet& set,
                                      int64_t cost, const Time* now,
                                      absl::StatusOr<BoundDecision>* answer) {
    const std::string_view view = key;
    Take(set.SingleFailed(*limiter->store, std::move(error),
                          CallAt(view, cost, now)),
         answer);
  }

  // It holds views of its arguments.
  static Call CallAt(const std::string_view& view, const int64_t& cost,
                     const Time* now) {
    Call call = CallOf(view, cost);
    if (now != nullptr) call.now = *now;
    return call;
  }

  static void Take(const absl::StatusOr<Decision>& decision,
                   absl::StatusOr<BoundDecision>* answer) {
    if (!decision.ok()) {
      *answer = decision.status();
      return;
    }
    BoundDecision& d = **answer;
    d.source_ = decision->source;
    d.limit_ = decision->limit;
    d.outcome_.ops = nullptr;
    d.outcome_.allowed = decision->allowed;
    d.outcome_.numbers = {
        decision->remaining,
        decision->never() ? kNever : decision->retry_after->count(),
        decision->reset_after.count()};
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
  if (key.size() > kMaxKeyBytes) {
    return InvalidArgument("key: ", key.size(), " bytes; allowed: at most ",
                           kMaxKeyBytes);
  }
  auto state = std::make_unique<BoundKey::State>(state_, key);
  if (absl::Status s = state->Rebind(); !s.ok()) return s;
  return BoundKey(std::move(state));
}

absl::StatusOr<BoundDecision> BoundKey::Decide(int64_t cost,
                                               const Time* now) const {
  // One value on every way out: it is made where the caller wants it.
  absl::StatusOr<BoundDecision> answer(absl::in_place);
  BoundDecision& d = *answer;
  d.cost_ = cost;
  // acquire: pairs with the release in Rebind.
  const State::Bound* bound = state_->current.load(std::memory_order_acquire);
  if (__builtin_expect(bound->set == &state_->limiter->rules() &&
                           bound->binding != nullptr &&
                           (now == nullptr || RuleSet::TimeIsSound(*now)) &&
                           RuleSet::SingleCallIsSound({}, cost),
                       1)) {
    d.limit_ = bound->limit;
    absl::Status error;
    if (__builtin_expect(
            bound->binding->Check(*bound->rule, now, cost, &d.outcome_, &error),
            1)) {
      return answer;
    }
    state_->Failed(std::move(error), *bound->set, cost, now, &answer);
  } else {
    state_->DecideSlowly(cost, now, &answer);
  }
  return answer;
}

}  // namespace weir
