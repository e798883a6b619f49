#include "core/rule_set.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/fixed_array.h"
#include "core/cached_call.h"
#include "core/math.h"
#include "core/single_decision.h"
#include "core/text.h"

namespace weir {
namespace {

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
  if (!now || RuleSet::TimeIsSound(*now)) return absl::OkStatus();
  return InvalidArgument("now: ", ToMicros(*now), " us; allowed: ", -kMaxExact,
                         " to ", kMaxExact, " (the year 2255)");
}

}  // namespace

absl::Status RuleSet::CheckCall(const Call& call) const {
  const size_t n = rules_.size();
  if (call.keys.size() != 1 && call.keys.size() != n) {
    return InvalidArgument("keys: ", call.keys.size(), " for ", n,
                           " rules; allowed: one for each, or one for all");
  }
  if (call.costs.size() > 1 && call.costs.size() != n) {
    return InvalidArgument("costs: ", call.costs.size(), " for ", n,
                           " rules; allowed: one for each, or one for all");
  }
  for (size_t i = 0; i < n; ++i) {
    if (absl::Status s = CheckCost(rules_[i], CostOf(call, i)); !s.ok()) {
      return s;
    }
    if (absl::Status s = CheckKey(rules_[i], KeyOf(call, i)); !s.ok()) return s;
  }
  if (absl::Status s = CheckTime(call.now); !s.ok()) return s;
  return trust_tags_ ? absl::OkStatus() : CheckTags(call);
}

std::string_view RuleSet::TagOf(const Call& call, std::string_view key) const {
  // Of the key's own bytes, wherever the function keeps its answer.
  if (tag_of_ != nullptr) return key.substr(0, tag_of_(key).size());
  return call.tag.value_or(key);
}

absl::Status RuleSet::CheckTagsOfKeys(const Call& call) const {
  if (call.tag.has_value()) {
    return InvalidArgument(
        "tag: named by a call, but the limiter's tag_of gives it; allowed: "
        "none");
  }
  std::string_view first;
  for (size_t i = 0; i < call.keys.size(); ++i) {
    const std::string_view key = call.keys[i];
    const std::string_view tag = tag_of_(key);
    if (key.substr(0, tag.size()) != tag) {
      return InvalidArgument("tag_of: what it gives for the key of rule \"",
                             rules_[i].name, "\" does not begin that key");
    }
    if (i == 0) first = key.substr(0, tag.size());
    if (tag == first) continue;
    return InvalidArgument("tag: by tag_of the key of rule \"", rules_[i].name,
                           "\" has another than that of rule \"",
                           rules_[0].name, "\"");
  }
  return absl::OkStatus();
}

absl::Status RuleSet::CheckTags(const Call& call) const {
  if (tag_of_ != nullptr) return CheckTagsOfKeys(call);
  if (!call.tag.has_value()) {
    for (size_t i = 1; i < call.keys.size(); ++i) {
      if (call.keys[i] == call.keys[0]) continue;
      return InvalidArgument(
          "tag: missing; the key of rule \"", rules_[i].name,
          "\" differs from that of rule \"", rules_[0].name,
          "\", so the call must name the leading part that its keys share");
    }
    return absl::OkStatus();
  }
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (KeyOf(call, i).substr(0, call.tag->size()) == *call.tag) continue;
    return InvalidArgument("tag: the key of rule \"", rules_[i].name,
                           "\" does not begin with the call's tag");
  }
  return absl::OkStatus();
}

Decision RuleSet::Decide(Op op, const AttachedLimit* const* limits,
                         const Outcome* outcomes, int64_t instances) const {
  Decision d;
  d.limit = kMaxExact;
  d.remaining = kMaxExact;
  RuleVerdict only;
  RuleVerdict* verdicts = &only;
  const bool alone = rules_.size() == 1 && !rules_[0].observe;
  if (!alone) {
    d.verdicts.resize(rules_.size());
    verdicts = d.verdicts.data();
  }
  // The rule that decides: first among the enforced ones that denied, else
  // among all enforced ones.
  const RuleVerdict* denier = nullptr;
  const RuleVerdict* tightest = nullptr;
  const bool asks = op != Op::kRefund && op != Op::kReset;
  for (size_t i = 0; i < rules_.size(); ++i) {
    const AttachedLimit& p = *limits[i];
    RuleVerdict& v = verdicts[i];
    v.name = rules_[i].name;
    v.observe = rules_[i].observe;
    v.limit = p.limit.traits.capacity / instances;
    if (p.rule == nullptr) {
      v.remaining = kMaxExact;
    } else {
      const Outcome& o = *outcomes++;
      v.allowed = o.allowed || !asks;
      v.remaining = o.numbers.remaining;
      v.reset_after = Micros(o.numbers.reset_after);
      const bool waits = asks && !(op == Op::kReserve && v.allowed);
      if (waits) v.retry_after = WaitOf(o.numbers.wait);
      v.soft = (v.limit - v.remaining) * instances > p.soft_above;
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
  if (alone) {
    static_cast<RuleVerdict&>(d) = only;
    return d;
  }
  d.allowed = denier == nullptr;
  if (d.allowed) d.retry_after = Micros(0);
  if (tightest != nullptr) d.remaining = tightest->remaining;
  if (const RuleVerdict* by = d.allowed ? tightest : denier; by != nullptr) {
    d.rule = static_cast<int>(by - verdicts);
    d.name = by->name;
    d.limit = by->limit;
  }
  return d;
}

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
  if (set->rules_.size() == 1 && set->attached_[0].size() == 1 &&
      !set->rules_[0].observe && first.rule != nullptr && denials == nullptr) {
    set->single_ = &first;
  }
  set->denials_ = std::move(denials);
  set->PrepareQuick(&store);
  return std::unique_ptr<const RuleSet>(std::move(set));
}

namespace {

absl::StatusOr<Decision> CheckInFull(const SingleRule& single,
                                     std::string_view key, int64_t cost) {
  const auto& quick = static_cast<const RuleSet::Quick&>(single);
  return quick.set->Run(*quick.store, Op::kCheck, CallOf(key, cost));
}
absl::StatusOr<Decision> CheckAtInFull(const SingleRule& single,
                                       std::string_view key, int64_t cost,
                                       Time now) {
  const auto& quick = static_cast<const RuleSet::Quick&>(single);
  Call call = CallOf(key, cost);
  call.now = now;
  return quick.set->Run(*quick.store, Op::kCheck, call);
}

// As steps of the store, which says how many it takes at once.
void CheckManyInFull(const SingleRule& single,
                     absl::Span<const std::string_view> keys, int64_t cost,
                     std::vector<absl::StatusOr<Decision>>* decisions) {
  const auto& quick = static_cast<const RuleSet::Quick&>(single);
  const bool sound = absl::c_all_of(keys, [cost](std::string_view key) {
    return RuleSet::SingleCallIsSound(key, cost);
  });
  if (single.rule == nullptr || !sound) {
    std::vector<Call> calls;
    calls.reserve(keys.size());
    for (const std::string_view& key : keys) {
      calls.push_back(CallOf(key, cost));
    }
    for (absl::StatusOr<Decision>& d :
         quick.set->CheckMany(*quick.store, calls)) {
      decisions->push_back(std::move(d));
    }
    return;
  }
  absl::FixedArray<Step, 64> steps(keys.size());
  absl::FixedArray<Outcome, 64> outcomes(keys.size());
  absl::FixedArray<absl::Status, 64> statuses(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    steps[i] = {single.rule, keys[i], keys[i], cost};
  }
  quick.store->RunEach(Op::kCheck, std::nullopt, steps.data(), outcomes.data(),
                       statuses.data(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok()) {
      decisions->emplace_back(absl::in_place,
                              SingleDecision(single, outcomes[i]));
    } else {
      decisions->push_back(quick.set->SingleFailed(
          *quick.store, std::move(statuses[i]), CallOf(keys[i], cost)));
    }
  }
}

}  // namespace

void RuleSet::PrepareQuick(Store* store) {
  quick_.set = this;
  quick_.store = store;
  quick_.check_in_full = &CheckInFull;
  quick_.check_at_in_full = &CheckAtInFull;
  quick_.check_many_in_full = &CheckManyInFull;
  if (single_ != nullptr && tag_of_ == nullptr) {
    quick_.rule = single_->rule.get();
    quick_.name = rules_[0].name;
    quick_.limit = single_->limit.traits.capacity;
    quick_.soft_above = single_->soft_above;
    quick_.checks = store->QuickChecksOf(*single_->rule);
  }
  QuickChecks& checks = quick_.checks;
  if (checks.check == nullptr) checks.check = quick_.check_in_full;
  if (checks.check_at == nullptr) checks.check_at = quick_.check_at_in_full;
  if (checks.check_many == nullptr) {
    checks.check_many = quick_.check_many_in_full;
  }
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

absl::StatusOr<Decision> RuleSet::Run(Store& store, Op op, const Call& call,
                                      int64_t max_wait, int64_t* wait) const {
  if (absl::Status s = CheckCall(call); !s.ok()) return s;
  const size_t n = rules_.size();
  absl::FixedArray<const AttachedLimit*, 4> limits(n);
  absl::FixedArray<Step, 4> steps(n);
  const size_t count = LayOut(call, max_wait, limits.data(), steps.data());
  const auto ask = [&] {
    return Ask(store, op, call, limits.data(), steps.data(), count, max_wait,
               wait);
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

}  // namespace weir
