#include "tests/oracle/oracle.h"

#include <algorithm>
#include <utility>

namespace weir_oracle {
namespace {

std::tuple<std::string, std::string, std::string> IdOf(const RuleSpec& rule,
                                                       const std::string& key) {
  return {rule.name, rule.limit.algorithm, key};
}

// Never is longer than any wait.
bool Longer(const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
  if (!b.has_value()) return false;
  return !a.has_value() || *a > *b;
}

bool IsCall(Op op) { return op == Op::kCheck || op == Op::kPeek; }

// Rules without state: no bound at all, or nothing ever.
RuleAnswer Stateless(const RuleSpec& rule, Op op) {
  RuleAnswer r;
  r.name = rule.name;
  r.observe = rule.observe;
  if (rule.limit.unlimited()) {
    r.limit = kMaxExact;
    r.remaining = kMaxExact;
  } else if (IsCall(op)) {
    r.allowed = false;
    r.retry_after = std::nullopt;
  }
  return r;
}

// The overall numbers, over the rules that are enforced.
void Summarise(Answer& a) {
  a.limit = kMaxExact;
  a.remaining = kMaxExact;
  bool first = true;
  for (size_t i = 0; i < a.rules.size(); ++i) {
    const RuleAnswer& r = a.rules[i];
    if (r.observe) continue;
    a.reset_after = std::max(a.reset_after, r.reset_after);
    if (Longer(r.retry_after, a.retry_after)) a.retry_after = r.retry_after;
    a.remaining = std::min(a.remaining, r.remaining);
    bool binds;
    if (a.allowed) {
      binds = first || r.remaining < a.rules[a.rule].remaining;
    } else {
      binds = !r.allowed &&
              (first || Longer(r.retry_after, a.rules[a.rule].retry_after));
    }
    if (!binds) continue;
    first = false;
    a.rule = static_cast<int>(i);
    a.limit = r.limit;
  }
}

}  // namespace

Oracle::Seen Oracle::Look(const RuleSpec& rule, const OracleCall& call,
                          size_t i) {
  Happened& h = happened_[i];
  Seen seen;
  auto it = states_.find(IdOf(rule, call.keys[i]));
  // A limit of 0 has no state of its own. Refund and reset reach what the key
  // holds under the limit that was there before.
  if (rule.limit.zero() && (it == states_.end() || IsCall(call.op)))
    return seen;
  const LimitSpec& limit =
      rule.limit.zero() ? it->second.model->spec() : rule.limit;
  seen.model = MakeModel(limit);
  if (it != states_.end()) {
    const Model& stored = *it->second.model;
    h.present = true;
    h.backwards = call.t < it->second.written_at;
    // A state is measured by the limit that it was written under.
    if (stored.Jumped(call.t)) {
      h.cut = true;
      seen.model->Empty(call.t);
    } else if (stored.spec() != limit) {
      h.carried = true;
      seen.model->TakeOver(stored, call.t);
    } else {
      seen.model = stored.Clone();
    }
  }
  if (IsCall(call.op)) {
    seen.own_verdict = seen.model->Admits(call.t, call.costs[i]);
  }
  return seen;
}

void Oracle::Store(const Id& id, const Model& model, int64_t t) {
  states_[id] = {model.Clone(), t};
}

// A refund is given to the state as it was written: under another limit only
// what is seen of it is carried over, so that what is used above a lower limit
// is not forgotten. A state that was cut is the asked limit's own.
void Oracle::Refund(const RuleSpec& rule, const OracleCall& call, size_t i,
                    Seen& seen) {
  Happened& h = happened_[i];
  const int64_t n = call.costs[i];
  auto it = states_.find(IdOf(rule, call.keys[i]));
  if (it == states_.end() || n == 0) return;
  h.cut_stored = h.cut;
  if (h.cut) it->second.model = seen.model->Clone();
  Model& stored = *it->second.model;
  // A key that is like a fresh one has nothing to get back.
  if (stored.Fresh(call.t)) return;
  const std::unique_ptr<Model> less = stored.Clone();
  stored.Refund(call.t, n);
  it->second.written_at = call.t;
  seen.model = MakeModel(rule.limit.zero() ? stored.spec() : rule.limit);
  if (stored.Fresh(call.t)) {
    h.forgotten = true;
    less->Refund(call.t, n - 1);
    h.clamped = less->Fresh(call.t);
    states_.erase(it);
  } else if (stored.spec() == seen.model->spec()) {
    seen.model = stored.Clone();
  } else {
    seen.model->TakeOver(stored, call.t);
  }
}

void Oracle::Change(const std::vector<RuleSpec>& rules, const OracleCall& call,
                    bool allowed, std::vector<Seen>& seen) {
  for (size_t i = 0; i < rules.size(); ++i) {
    if (seen[i].model == nullptr) continue;
    Happened& h = happened_[i];
    Model& model = *seen[i].model;
    const Id id = IdOf(rules[i], call.keys[i]);
    switch (call.op) {
      case Op::kPeek:
        break;
      case Op::kReset:
        states_.erase(id);
        seen[i].model = MakeModel(seen[i].model->spec());
        break;
      case Op::kRefund:
        Refund(rules[i], call, i, seen[i]);
        break;
      case Op::kCheck:
        if (call.costs[i] == 0) break;
        h.charged = model.CountsDenied() || (allowed && seen[i].own_verdict);
        h.cut_stored = h.cut;
        if (h.charged) model.Charge(call.t, call.costs[i]);
        if (h.charged || h.cut) Store(id, model, call.t);
        break;
    }
  }
}

Answer Oracle::Run(const std::vector<RuleSpec>& rules, const OracleCall& call) {
  happened_.assign(rules.size(), Happened());
  Answer answer;
  std::vector<Seen> seen(rules.size());
  for (size_t i = 0; i < rules.size(); ++i) {
    RuleAnswer r = Stateless(rules[i], call.op);
    if (!rules[i].limit.unlimited()) seen[i] = Look(rules[i], call, i);
    if (!rules[i].limit.unlimited() && !rules[i].limit.zero()) {
      r.allowed = seen[i].own_verdict;
      r.limit = seen[i].model->Capacity();
    }
    if (!r.observe && !r.allowed) answer.allowed = false;
    answer.rules.push_back(std::move(r));
  }
  Change(rules, call, answer.allowed, seen);
  for (size_t i = 0; i < rules.size(); ++i) {
    if (seen[i].model == nullptr || rules[i].limit.zero()) continue;
    RuleAnswer& r = answer.rules[i];
    r.remaining = seen[i].model->Remaining(call.t);
    r.reset_after = seen[i].model->ResetAfter(call.t);
    // A call that passed has nothing to wait for; where it did not, each rule
    // tells its wait in the state that the call leaves behind.
    r.retry_after = answer.allowed && r.allowed
                        ? 0
                        : seen[i].model->Wait(call.t, call.costs[i]);
  }
  Summarise(answer);
  return answer;
}

std::optional<int64_t> Oracle::EarliestUncut(const RuleSpec& rule,
                                             const std::string& key) const {
  auto it = states_.find(IdOf(rule, key));
  if (it == states_.end()) return std::nullopt;
  const Model& model = *it->second.model;
  int64_t cut = -(int64_t{1} << 55);
  int64_t uncut = it->second.written_at;
  if (!model.Jumped(cut) || model.Jumped(uncut)) return std::nullopt;
  while (uncut - cut > 1) {
    const int64_t mid = cut + (uncut - cut) / 2;
    (model.Jumped(mid) ? cut : uncut) = mid;
  }
  return uncut;
}

}  // namespace weir_oracle
