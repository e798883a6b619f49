// The decision on a call, from what its rules say.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/rule_set.h"

namespace weir {
namespace {

// Never is greater than any wait.
bool WaitsLonger(const std::optional<Micros>& a,
                 const std::optional<Micros>& b) {
  if (!b.has_value()) return false;
  return !a.has_value() || *a > *b;
}

// What one rule says of a call, written where it belongs: a verdict that is
// copied right after it was made waits for its words. `outcome`: null if no
// store was asked.
void SetVerdict(Op op, const Rule& rule, const AttachedLimit& limit,
                const Outcome* outcome, int64_t instances, RuleVerdict* v) {
  v->name = rule.name;
  v->observe = rule.observe;
  v->limit = limit.limit.traits.capacity / instances;
  if (outcome == nullptr) {
    v->remaining = kMaxExact;
    return;
  }
  const bool asks = op != Op::kRefund && op != Op::kReset;
  v->allowed = outcome->allowed || !asks;
  v->remaining = outcome->numbers.remaining;
  v->reset_after = Micros(outcome->numbers.reset_after);
  const bool waits = asks && !(op == Op::kReserve && v->allowed);
  if (waits) v->retry_after = WaitOf(outcome->numbers.wait);
  v->soft = (v->limit - v->remaining) * instances > limit.soft_above;
}

}  // namespace

Decision RuleSet::Decide(Op op, const AttachedLimit* const* limits,
                         const Outcome* outcomes, int64_t instances) const {
  Decision d;
  d.limit = kMaxExact;
  d.remaining = kMaxExact;
  RuleVerdict only;
  RuleVerdict* verdicts = &only;
  const bool alone = EnforcesOne();
  if (!alone) {
    d.verdicts.resize(rules_.size());
    verdicts = d.verdicts.data();
  }
  // The rule that decides: first among the enforced ones that denied, else
  // among all enforced ones.
  const RuleVerdict* denier = nullptr;
  const RuleVerdict* tightest = nullptr;
  for (size_t i = 0; i < rules_.size(); ++i) {
    const Outcome* const outcome =
        limits[i]->rule == nullptr ? nullptr : outcomes++;
    RuleVerdict& v = verdicts[i];
    SetVerdict(op, rules_[i], *limits[i], outcome, instances, &v);
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

absl::StatusOr<Decision> RuleSet::DecideCheck(
    const Store& store, absl::Status status, const Call& call,
    const AttachedLimit* const* limits, const Outcome* outcomes) const {
  if (status.ok()) return Decide(Op::kCheck, limits, outcomes);
  return Failed(store, Op::kCheck, std::move(status), call, limits);
}

}  // namespace weir
