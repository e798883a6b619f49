#include "core/rule_set.h"

#include <cmath>
#include <utility>

#include "absl/container/fixed_array.h"
#include "core/cached_call.h"
#include "core/math.h"
#include "core/text.h"

namespace weir {
namespace {

// That share of a capacity, rounded down, since what is used is whole. By the
// decimals that were written: 0.29 of 100 is 29, and not a double just below.
int64_t ShareOf(int64_t capacity, double share) {
  constexpr int64_t kOne = 1'000'000'000'000;
  const int64_t parts = std::llround(share * static_cast<double>(kOne));
  return static_cast<int64_t>(FloorDiv(Times(capacity, parts), kOne));
}

// Checks a limit and makes it known to the store.
absl::StatusOr<AttachedLimit> AttachLimit(Store& store,
                                          const Registry& registry,
                                          const OutagePolicy& outage,
                                          const Rule& rule,
                                          const Limit& limit) {
  absl::StatusOr<CompiledLimit> compiled = registry.Compile(limit, store.Now());
  if (!compiled.ok()) {
    return InvalidArgument("rule \"", rule.name,
                           "\": ", compiled.status().message());
  }
  AttachedLimit attached;
  attached.limit = *std::move(compiled);
  attached.soft_above =
      ShareOf(attached.limit.traits.capacity, rule.soft.value_or(1));
  if (attached.limit.unlimited()) return attached;
  auto known = store.Attach(rule.name, attached.limit);
  if (!known.ok()) return known.status();
  attached.rule = *std::move(known);
  if (absl::Status s = AttachLocally(outage, rule, &attached); !s.ok()) {
    return s;
  }
  return attached;
}

absl::Status CheckRule(const std::vector<Rule>& rules, size_t i) {
  const Rule& rule = rules[i];
  for (size_t j = 0; j < i; ++j) {
    if (rules[j].name != rule.name) continue;
    return InvalidArgument("rule \"", rule.name, "\": stands twice");
  }
  if (rule.soft && !(*rule.soft > 0 && *rule.soft <= 1)) {
    return InvalidArgument("rule \"", rule.name, "\": soft: ", *rule.soft,
                           "; allowed: above 0, at most 1");
  }
  if (rule.plans.empty() != (rule.plan_of == nullptr)) {
    return InvalidArgument(
        "rule \"", rule.name, "\": ",
        rule.plans.empty() ? "plan_of without plans" : "plans without plan_of");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<const RuleSet>> RuleSet::Make(
    Store& store, std::vector<Rule> rules, const LimiterOptions& options,
    std::shared_ptr<DenialCache> denials) {
  if (rules.empty()) {
    return InvalidArgument("rules: none; a limiter needs at least one");
  }
  const Registry& registry =
      options.registry != nullptr ? *options.registry : Registry::BuiltIn();
  if (absl::Status s = CheckOutagePolicy(options.outage, store); !s.ok()) {
    return s;
  }
  if (options.trust_tags && options.tag_of != nullptr) {
    return InvalidArgument(
        "trust_tags: is set, and so is tag_of; allowed: one");
  }
  std::unique_ptr<RuleSet> set(new RuleSet());
  set->outage_ = options.outage;
  set->trust_tags_ = options.trust_tags;
  set->tag_of_ = options.tag_of;
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = rules[i];
    if (absl::Status s = CheckRule(rules, i); !s.ok()) return s;
    std::vector<AttachedLimit>& attached = set->attached_.emplace_back();
    for (size_t plan = 0; plan <= rule.plans.size(); ++plan) {
      absl::StatusOr<AttachedLimit> limit =
          AttachLimit(store, registry, options.outage, rule,
                      plan == 0 ? rule.limit : rule.plans[plan - 1]);
      if (!limit.ok()) return limit.status();
      if (denials != nullptr && limit->limit.traits.count_denied) {
        return InvalidArgument(
            "rule \"", rule.name,
            "\": counts denied calls, so the store has to be told of each; "
            "denial_cache_keys: allowed: 0");
      }
      attached.push_back(*std::move(limit));
    }
  }
  set->rules_ = std::move(rules);
  const AttachedLimit& first = set->attached_[0][0];
  if (set->EnforcesOne() && set->attached_[0].size() == 1 &&
      first.rule != nullptr && denials == nullptr) {
    set->single_ = &first;
  }
  set->denials_ = std::move(denials);
  set->PrepareQuick(&store);
  return std::unique_ptr<const RuleSet>(std::move(set));
}

std::string RuleSet::Text() const {
  std::string text;
  const auto add = [&text](std::string_view part) {
    absl::StrAppend(&text, part.size(), ":", Sv(part));
  };
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].plan_of != nullptr) return "";
    add(rules_[i].name);
    add(rules_[i].observe ? "observe" : "");
    const double soft = rules_[i].soft.value_or(0);  // never 0 itself
    add({reinterpret_cast<const char*>(&soft), sizeof(soft)});
    const CompiledLimit& limit = attached_[i][0].limit;
    add(limit.algorithm);
    add(limit.text);
  }
  return text;
}

std::string_view RuleSet::TagOf(const Call& call, std::string_view key) const {
  // Of the key's own bytes, wherever the function keeps its answer.
  if (tag_of_ != nullptr) return key.substr(0, tag_of_(key).size());
  return call.tag.value_or(key);
}

size_t RuleSet::LayOut(const Call& call, int64_t max_wait,
                       const AttachedLimit** limits, Step* steps) const {
  size_t count = 0;
  for (size_t i = 0; i < rules_.size(); ++i) {
    const std::string_view key = KeyOf(call, i);
    limits[i] = &LimitOf(i, key);
    if (limits[i]->rule == nullptr) continue;
    steps[count++] = {limits[i]->rule.get(), key,
                      TagOf(call, key),      CostOf(call, i),
                      rules_[i].observe,     max_wait};
  }
  return count;
}

absl::StatusOr<Decision> RuleSet::Ask(Store& store, Op op, const Call& call,
                                      const AttachedLimit* const* limits,
                                      const Step* steps, size_t count,
                                      int64_t max_wait, int64_t* wait) const {
  absl::FixedArray<Outcome, 4> outcomes(rules_.size());
  if (count > 0) {
    absl::Status s = store.Run(op, call.now, steps, outcomes.data(), count);
    if (!s.ok()) {
      return Failed(store, op, std::move(s), call, limits, max_wait, wait);
    }
  }
  if (wait != nullptr) *wait = count > 0 ? outcomes[0].numbers.wait : 0;
  return Decide(op, limits, outcomes.data());
}

absl::StatusOr<Decision> RuleSet::Run(Store& store, Op op,
                                      const Call& call) const {
  if (absl::Status s = CheckCall(call); !s.ok()) return s;
  const size_t n = rules_.size();
  absl::FixedArray<const AttachedLimit*, 4> limits(n);
  absl::FixedArray<Step, 4> steps(n);
  const size_t count = LayOut(call, 0, limits.data(), steps.data());
  const auto ask = [&] {
    return Ask(store, op, call, limits.data(), steps.data(), count, 0, nullptr);
  };
  if (denials_ == nullptr) return ask();
  CachedCall cached;
  if (op == Op::kCheck) {
    cached.Open(*this, call, limits.data(), store.WaitingClock(),
                denials_.get());
    Decision denied;
    if (cached.Repeats(&denied)) return denied;
  }
  absl::StatusOr<Decision> d = ask();
  cached.Learn(d);
  if (op == Op::kRefund || op == Op::kReset) ForgetDenials(call);
  return d;
}

void RuleSet::ForgetDenials(const Call& call) const {
  if (denials_ == nullptr) return;
  // What several rules denied hangs on the keys of each.
  if (rules_.size() > 1) return denials_->ForgetAll();
  std::string text;
  denials_->Forget(CachedCall::KeysOf(call, &text));
}

}  // namespace weir
