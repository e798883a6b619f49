#include "weir/limiter.h"

#include <algorithm>
#include <utility>

#include "absl/container/fixed_array.h"
#include "core/text.h"

namespace weir {
namespace {

// A rule, checked and known to the store.
struct Prepared {
  CompiledLimit limit;
  std::shared_ptr<const StoreRule> rule;
  double soft_above = 0;  // used above this is flagged; capacity: never
  int step = -1;          // its place among the steps; -1: no store is asked
};

std::optional<Micros> ToWait(int64_t wait) {
  if (wait == kNever) return std::nullopt;
  return Micros(wait);
}

// Never is greater than any wait.
bool WaitsLonger(const std::optional<Micros>& a,
                 const std::optional<Micros>& b) {
  if (!b.has_value()) return false;
  return !a.has_value() || *a > *b;
}

absl::Status CheckCost(const Rule& rule, int64_t cost) {
  if (cost >= 0 && cost <= kMaxExact) return absl::OkStatus();
  return InvalidArgument("cost: ", cost, " for rule \"", rule.name,
                         "\"; allowed: 0 to ", kMaxExact);
}

absl::Status CheckKey(const Rule& rule, std::string_view key) {
  if (key.size() <= kMaxKeyBytes) return absl::OkStatus();
  return InvalidArgument("key: ", key.size(), " bytes for rule \"", rule.name,
                         "\"; allowed: at most ", kMaxKeyBytes);
}

absl::Status CheckTime(const std::optional<Time>& now) {
  if (!now || (ToMicros(*now) >= -kMaxExact && ToMicros(*now) <= kMaxExact)) {
    return absl::OkStatus();
  }
  return InvalidArgument("now: ", ToMicros(*now), " us; allowed: ", -kMaxExact,
                         " to ", kMaxExact, " (the year 2255)");
}

}  // namespace

struct Limiter::Config {
  std::shared_ptr<Store> store;
  std::vector<Rule> rules;
  std::vector<Prepared> prepared;
  bool trust_tags = false;
  size_t steps = 0;

  absl::Status CheckCall(const Call& call) const;
  absl::Status CheckTags(const Call& call) const;
  Decision Decide(Op op, const Outcome* outcomes) const;

  std::string_view KeyOf(const Call& call, size_t rule) const {
    return call.keys[call.keys.size() == 1 ? 0 : rule];
  }
  int64_t CostOf(const Call& call, size_t rule) const {
    if (call.costs.empty()) return 1;
    return call.costs[call.costs.size() == 1 ? 0 : rule];
  }
};

absl::Status Limiter::Config::CheckCall(const Call& call) const {
  const size_t n = rules.size();
  if (call.keys.size() != 1 && call.keys.size() != n) {
    return InvalidArgument("keys: ", call.keys.size(), " for ", n,
                           " rules; allowed: one for each, or one for all");
  }
  if (call.costs.size() > 1 && call.costs.size() != n) {
    return InvalidArgument("costs: ", call.costs.size(), " for ", n,
                           " rules; allowed: one for each, or one for all");
  }
  for (size_t i = 0; i < n; ++i) {
    if (absl::Status s = CheckCost(rules[i], CostOf(call, i)); !s.ok()) {
      return s;
    }
    if (absl::Status s = CheckKey(rules[i], KeyOf(call, i)); !s.ok()) return s;
  }
  if (absl::Status s = CheckTime(call.now); !s.ok()) return s;
  return trust_tags ? absl::OkStatus() : CheckTags(call);
}

absl::Status Limiter::Config::CheckTags(const Call& call) const {
  if (!call.tag.has_value()) {
    for (size_t i = 1; i < call.keys.size(); ++i) {
      if (call.keys[i] == call.keys[0]) continue;
      return InvalidArgument(
          "tag: missing; the key of rule \"", rules[i].name,
          "\" differs from that of rule \"", rules[0].name,
          "\", so the call must name the leading part that its keys share");
    }
    return absl::OkStatus();
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    if (KeyOf(call, i).substr(0, call.tag->size()) == *call.tag) continue;
    return InvalidArgument("tag: the key of rule \"", rules[i].name,
                           "\" does not begin with the call's tag");
  }
  return absl::OkStatus();
}

Decision Limiter::Config::Decide(Op op, const Outcome* outcomes) const {
  Decision d;
  d.limit = kMaxExact;
  d.remaining = kMaxExact;
  d.verdicts.resize(rules.size());
  // The rule that decides: first among the enforced ones that denied, else
  // among all enforced ones.
  const RuleVerdict* denier = nullptr;
  const RuleVerdict* tightest = nullptr;
  const bool asks = op == Op::kCheck || op == Op::kPeek;
  for (size_t i = 0; i < rules.size(); ++i) {
    const Prepared& p = prepared[i];
    RuleVerdict& v = d.verdicts[i];
    v.name = rules[i].name;
    v.observe = rules[i].observe;
    v.limit = p.limit.traits.capacity;
    if (p.step < 0) {
      v.remaining = kMaxExact;
    } else {
      const Outcome& o = outcomes[p.step];
      v.allowed = o.allowed || !asks;
      v.remaining = o.numbers.remaining;
      v.reset_after = Micros(o.numbers.reset_after);
      if (asks) v.retry_after = ToWait(o.numbers.wait);
      v.soft = static_cast<double>(v.limit - v.remaining) > p.soft_above;
    }
    if (v.observe) continue;
    d.soft = d.soft || v.soft;
    d.reset_after = std::max(d.reset_after, v.reset_after);
    if (WaitsLonger(v.retry_after, d.retry_after)) {
      d.retry_after = v.retry_after;
    }
    if (!v.allowed && (denier == nullptr ||
                       WaitsLonger(v.retry_after, denier->retry_after))) {
      denier = &v;
    }
    if (tightest == nullptr || v.remaining < tightest->remaining) tightest = &v;
  }
  d.allowed = denier == nullptr;
  if (d.allowed) d.retry_after = Micros(0);
  if (tightest != nullptr) d.remaining = tightest->remaining;
  if (const RuleVerdict* by = d.allowed ? tightest : denier; by != nullptr) {
    d.rule = static_cast<int>(by - d.verdicts.data());
    d.limit = by->limit;
  }
  return d;
}

Limiter::Limiter(std::unique_ptr<Config> config) : config_(std::move(config)) {}
Limiter::Limiter(Limiter&&) noexcept = default;
Limiter& Limiter::operator=(Limiter&&) noexcept = default;
Limiter::~Limiter() = default;

absl::StatusOr<Limiter> Limiter::Create(std::shared_ptr<Store> store,
                                        Limit limit,
                                        const LimiterOptions& options) {
  std::vector<Rule> rules;
  rules.push_back({"default", std::move(limit), false, std::nullopt});
  return Create(std::move(store), std::move(rules), options);
}

absl::StatusOr<Limiter> Limiter::Create(std::shared_ptr<Store> store,
                                        std::vector<Rule> rules,
                                        const LimiterOptions& options) {
  if (store == nullptr) return InvalidArgument("store: is null");
  if (rules.empty()) {
    return InvalidArgument("rules: none; a limiter needs at least one");
  }
  const Registry& registry =
      options.registry != nullptr ? *options.registry : Registry::BuiltIn();
  auto config = std::make_unique<Config>();
  config->trust_tags = options.trust_tags;
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = rules[i];
    for (size_t j = 0; j < i; ++j) {
      if (rules[j].name == rule.name) {
        return InvalidArgument("rule \"", rule.name, "\": stands twice");
      }
    }
    if (rule.soft && !(*rule.soft > 0 && *rule.soft <= 1)) {
      return InvalidArgument("rule \"", rule.name, "\": soft: ", *rule.soft,
                             "; allowed: above 0, at most 1");
    }
    absl::StatusOr<CompiledLimit> limit =
        registry.Compile(rule.limit, store->Now());
    if (!limit.ok()) {
      return InvalidArgument("rule \"", rule.name,
                             "\": ", limit.status().message());
    }
    Prepared p;
    p.limit = *std::move(limit);
    p.soft_above =
        static_cast<double>(p.limit.traits.capacity) * rule.soft.value_or(1);
    if (!p.limit.unlimited()) {
      auto attached = store->Attach(rule.name, p.limit);
      if (!attached.ok()) return attached.status();
      p.rule = *std::move(attached);
      p.step = static_cast<int>(config->steps++);
    }
    config->prepared.push_back(std::move(p));
  }
  config->store = std::move(store);
  config->rules = std::move(rules);
  return Limiter(std::move(config));
}

absl::Span<const Rule> Limiter::rules() const { return config_->rules; }

absl::StatusOr<Decision> Limiter::Run(Op op, const Call& call) const {
  const Config& c = *config_;
  if (absl::Status s = c.CheckCall(call); !s.ok()) return s;
  absl::FixedArray<Step, 4> steps(c.steps);
  absl::FixedArray<Outcome, 4> outcomes(c.steps);
  for (size_t i = 0; i < c.rules.size(); ++i) {
    const Prepared& p = c.prepared[i];
    if (p.step < 0) continue;
    steps[p.step] = {p.rule.get(), c.KeyOf(call, i), c.CostOf(call, i),
                     c.rules[i].observe};
  }
  if (c.steps > 0) {
    absl::Status s =
        c.store->Run(op, call.now, steps.data(), outcomes.data(), c.steps);
    if (!s.ok()) return s;
  }
  return c.Decide(op, outcomes.data());
}

namespace {

absl::StatusOr<Decision> RunOne(const Limiter& limiter, Op op,
                                std::string_view key, int64_t cost) {
  Call call;
  call.keys = absl::MakeConstSpan(&key, 1);
  call.costs = absl::MakeConstSpan(&cost, 1);
  return limiter.Run(op, call);
}

}  // namespace

absl::StatusOr<Decision> Limiter::Check(std::string_view key,
                                        int64_t cost) const {
  return RunOne(*this, Op::kCheck, key, cost);
}
absl::StatusOr<Decision> Limiter::Check(const Call& call) const {
  return Run(Op::kCheck, call);
}
absl::StatusOr<Decision> Limiter::Peek(std::string_view key,
                                       int64_t cost) const {
  return RunOne(*this, Op::kPeek, key, cost);
}
absl::StatusOr<Decision> Limiter::Peek(const Call& call) const {
  return Run(Op::kPeek, call);
}
absl::StatusOr<Decision> Limiter::Refund(std::string_view key,
                                         int64_t cost) const {
  return RunOne(*this, Op::kRefund, key, cost);
}
absl::StatusOr<Decision> Limiter::Refund(const Call& call) const {
  return Run(Op::kRefund, call);
}
absl::StatusOr<Decision> Limiter::Reset(std::string_view key) const {
  return RunOne(*this, Op::kReset, key, 1);
}
absl::StatusOr<Decision> Limiter::Reset(const Call& call) const {
  return Run(Op::kReset, call);
}

}  // namespace weir
