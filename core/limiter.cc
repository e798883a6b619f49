#include "weir/limiter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/limiter_state.h"
#include "core/rule_set.h"
#include "core/text.h"

namespace weir {

Limiter::Limiter(std::shared_ptr<State> state) : state_(std::move(state)) {}
Limiter::Limiter(Limiter&&) noexcept = default;
Limiter& Limiter::operator=(Limiter&& other) noexcept {
  if (this != &other) {
    if (state_ != nullptr) Shutdown();
    state_ = std::move(other.state_);
  }
  return *this;
}
Limiter::~Limiter() {
  if (state_ != nullptr) Shutdown();
}

absl::StatusOr<Limiter> Limiter::Create(std::shared_ptr<Store> store,
                                        Limit limit,
                                        const LimiterOptions& options) {
  std::vector<Rule> rules;
  rules.push_back({"default", std::move(limit)});
  return Create(std::move(store), std::move(rules), options);
}

absl::StatusOr<Limiter> Limiter::Create(std::shared_ptr<Store> store,
                                        std::vector<Rule> rules,
                                        const LimiterOptions& options) {
  if (store == nullptr) return InvalidArgument("store: is null");
  constexpr size_t kMostDenials = 10'000'000;
  if (options.denial_cache_keys > kMostDenials) {
    return InvalidArgument("denial_cache_keys: ", options.denial_cache_keys,
                           "; allowed: 0 to ", kMostDenials);
  }
  auto state = std::make_shared<State>();
  if (options.denial_cache_keys > 0) {
    state->denials = std::make_shared<DenialCache>(options.denial_cache_keys);
  }
  auto set = RuleSet::Make(*store, std::move(rules), options, state->denials);
  if (!set.ok()) return set.status();
  state->store = std::move(store);
  state->options = options;
  state->Replace(*std::move(set));
  return Limiter(std::move(state));
}

namespace {

// Whether a key of the rule may go by another algorithm than before. A plan
// that one of the two does not have is the rule's own limit.
bool ChangesAlgorithm(const Rule& from, const Rule& to) {
  const auto algorithm = [](const Rule& rule, size_t plan) {
    const bool own = plan >= rule.plans.size();
    return (own ? rule.limit : rule.plans[plan]).algorithm();
  };
  // The last one is no plan: the rules' own limits.
  const size_t end = std::max(from.plans.size(), to.plans.size()) + 1;
  for (size_t plan = 0; plan < end; ++plan) {
    if (algorithm(from, plan) != algorithm(to, plan)) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> Limiter::Update(
    std::vector<Rule> rules) {
  const std::lock_guard<std::mutex> lock(state_->update_mutex);
  const std::vector<Rule>& old = state_->rules().rules();
  if (rules.size() != old.size()) {
    return InvalidArgument("rules: ", rules.size(), " of them replace ",
                           old.size(), "; allowed: the same rules");
  }
  std::vector<std::string> afresh;
  for (size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].name != old[i].name) {
      return InvalidArgument("rule \"", rules[i].name, "\" replaces \"",
                             old[i].name,
                             "\"; allowed: the same names in the same order");
    }
    if (ChangesAlgorithm(old[i], rules[i])) afresh.push_back(rules[i].name);
  }
  auto set = RuleSet::Make(*state_->store, std::move(rules), state_->options,
                           state_->denials);
  if (!set.ok()) return set.status();
  state_->Replace(*std::move(set));
  if (state_->denials != nullptr) state_->denials->NoteUpdate();
  state_->room.WakeAll();
  return afresh;
}

absl::StatusOr<std::vector<std::string>> Limiter::Update(Limit limit) {
  std::vector<Rule> rules = state_->rules().rules();
  if (rules.size() != 1) {
    return InvalidArgument("limit: one for ", rules.size(),
                           " rules; allowed: a limiter with one rule");
  }
  rules[0].limit = std::move(limit);
  return Update(std::move(rules));
}

void Limiter::Shutdown() { state_->room.Close(); }

absl::Span<const Rule> Limiter::rules() const {
  return state_->rules().rules();
}

absl::StatusOr<Decision> Limiter::Run(Op op, const Call& call) const {
  if (op == Op::kReserve) {
    return InvalidArgument("op: reservations are made with Reserve");
  }
  return state_->Run(op, call);
}

absl::StatusOr<Decision> Limiter::Check(std::string_view key,
                                        int64_t cost) const {
  const RuleSet::Quick& quick = state_->rules().quick();
  return quick.checks.check(quick, key, cost);
}
absl::StatusOr<Decision> Limiter::Check(const Call& call) const {
  const RuleSet& rules = state_->rules();
  if (call.keys.size() != 1 || call.costs.size() > 1 || call.tag.has_value()) {
    return rules.Run(*state_->store, Op::kCheck, call);
  }
  const RuleSet::Quick& quick = rules.quick();
  const int64_t cost = rules.CostOf(call, 0);
  return call.now.has_value()
             ? quick.checks.check_at(quick, call.keys[0], cost, *call.now)
             : quick.checks.check(quick, call.keys[0], cost);
}
absl::StatusOr<Decision> Limiter::Peek(std::string_view key,
                                       int64_t cost) const {
  return state_->Run(Op::kPeek, CallOf(key, cost));
}
absl::StatusOr<Decision> Limiter::Peek(const Call& call) const {
  return state_->Run(Op::kPeek, call);
}
absl::StatusOr<Decision> Limiter::Refund(std::string_view key,
                                         int64_t cost) const {
  return state_->Run(Op::kRefund, CallOf(key, cost));
}
absl::StatusOr<Decision> Limiter::Refund(const Call& call) const {
  return state_->Run(Op::kRefund, call);
}
absl::StatusOr<Decision> Limiter::Reset(std::string_view key) const {
  return state_->Run(Op::kReset, CallOf(key, 1));
}
absl::StatusOr<Decision> Limiter::Reset(const Call& call) const {
  return state_->Run(Op::kReset, call);
}

std::vector<absl::StatusOr<Decision>> Limiter::CheckMany(
    absl::Span<const std::string_view> keys, int64_t cost) const {
  const RuleSet::Quick& quick = state_->rules().quick();
  std::vector<absl::StatusOr<Decision>> decisions;
  decisions.reserve(keys.size());
  quick.checks.check_many(quick, keys, cost, &decisions);
  return decisions;
}

std::vector<absl::StatusOr<Decision>> Limiter::CheckMany(
    absl::Span<const Call> calls) const {
  return state_->rules().CheckMany(*state_->store, calls);
}

void Limiter::CheckAsync(std::string_view key, int64_t cost,
                         DecisionCallback done) const {
  CheckAsync(CallOf(key, cost), std::move(done));
}
void Limiter::CheckAsync(const Call& call, DecisionCallback done) const {
  state_->rules().CheckAsync(*state_->store, call, std::move(done));
}

}  // namespace weir
