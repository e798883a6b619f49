// What a set of rules answers while its store cannot decide.
#include <algorithm>
#include <utility>

#include "absl/container/fixed_array.h"
#include "core/duration_text.h"
#include "core/rule_set.h"
#include "core/text.h"

namespace weir {
namespace {

using Answer = OutagePolicy::Answer;

// So many that all instances would together have `cost`; at most what any
// store takes, which is above every limit.
int64_t Scaled(int64_t cost, int64_t instances) {
  return cost > kMaxExact / instances ? kMaxExact : cost * instances;
}

}  // namespace

absl::Status CheckOutagePolicy(const OutagePolicy& policy, const Store& store) {
  if (policy.answer() == Answer::kClosed && policy.retry_after().count() <= 0) {
    return InvalidArgument(
        "outage: retry_after: ", DurationText(policy.retry_after().count()),
        "; allowed: more than 0");
  }
  if (policy.answer() != Answer::kLocal) return absl::OkStatus();
  if (policy.store() == nullptr) {
    return InvalidArgument("outage: the local store is null");
  }
  if (policy.store().get() == &store) {
    return InvalidArgument(
        "outage: the local store is the limiter's own; allowed: another");
  }
  constexpr int64_t kMostInstances = 1'000'000;
  if (policy.instances() < 1 || policy.instances() > kMostInstances) {
    return InvalidArgument("outage: instances: ", policy.instances(),
                           "; allowed: 1 to ", kMostInstances);
  }
  return absl::OkStatus();
}

absl::Status AttachLocally(const OutagePolicy& policy, const Rule& rule,
                           AttachedLimit* attached) {
  if (policy.answer() != Answer::kLocal) return absl::OkStatus();
  const CompiledLimit& limit = attached->limit;
  if (!rule.observe && !limit.denies_all &&
      limit.traits.capacity < policy.instances()) {
    return InvalidArgument(
        "rule \"", rule.name, "\": outage: at most ", limit.traits.capacity,
        " pass at once, so one of ", policy.instances(),
        " instances could let nothing pass; allowed: at most ",
        limit.traits.capacity, " instances");
  }
  auto known = policy.store()->Attach(rule.name, limit);
  if (!known.ok()) return known.status();
  attached->local = *std::move(known);
  return absl::OkStatus();
}

absl::StatusOr<Decision> RuleSet::Failed(const Store& store, Op op,
                                         absl::Status failed, const Call& call,
                                         const AttachedLimit* const* limits,
                                         int64_t max_wait,
                                         int64_t* wait) const {
  const bool answers = outage_.answer() != Answer::kError && op != Op::kReset &&
                       store.IsOutage(failed);
  if (!answers) return failed;
  return ByPolicy(op, call, limits, max_wait, wait);
}

absl::StatusOr<Decision> RuleSet::ByPolicy(Op op, const Call& call,
                                           const AttachedLimit* const* limits,
                                           int64_t max_wait,
                                           int64_t* wait) const {
  const size_t n = rules_.size();
  absl::FixedArray<Step, 4> steps(n);
  absl::FixedArray<Outcome, 4> outcomes(n);
  const bool local = outage_.answer() == Answer::kLocal;
  const int64_t instances = local ? outage_.instances() : 1;
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    if (limits[i]->rule == nullptr) continue;
    const int64_t capacity = limits[i]->limit.traits.capacity;
    const std::string_view key = KeyOf(call, i);
    const int64_t cost = CostOf(call, i);
    Outcome& o = outcomes[count];
    if (outage_.answer() == Answer::kOpen) {
      // A fresh key would have denied it too, whatever the store knows.
      o.allowed = cost <= capacity && !limits[i]->limit.denies_all;
      o.numbers = {capacity, o.allowed ? 0 : kNever, 0};
    } else {
      o.allowed = false;
      o.numbers = {0, outage_.retry_after().count(), 0};
    }
    // This can be a thread of the store's, on which tag_of is not called. An
    // embedded store has no use for tags.
    steps[count++] = {limits[i]->local.get(), key,
                      call.tag.value_or(key), Scaled(cost, instances),
                      rules_[i].observe,      max_wait};
  }
  if (local && count > 0) {
    absl::Status s = outage_.store()->Run(op, call.now, steps.data(),
                                          outcomes.data(), count);
    if (!s.ok()) return s;
    for (size_t i = 0; i < count; ++i) {
      outcomes[i].numbers.remaining /= instances;
    }
  }
  if (wait != nullptr) *wait = count > 0 ? outcomes[0].numbers.wait : 0;
  Decision d = Decide(op, limits, outcomes.data(), instances);
  if (count > 0) d.source = Source::kPolicy;
  return d;
}

absl::StatusOr<Decision> RuleSet::SingleFailed(const Store& store,
                                               absl::Status failed,
                                               const Call& call) const {
  return Failed(store, Op::kCheck, std::move(failed), call, &single_);
}

absl::Status RuleSet::GiveBack(Store& store, const Call& call,
                               const AttachedLimit& limit, Source from) const {
  if (from == Source::kPolicy) {
    if (outage_.answer() != Answer::kLocal) return absl::OkStatus();
    const AttachedLimit* limits = &limit;
    return ByPolicy(Op::kRefund, call, &limits, 0, nullptr).status();
  }
  if (limit.rule == nullptr) return absl::OkStatus();
  const std::string_view key = KeyOf(call, 0);
  const Step step = {limit.rule.get(), key, TagOf(call, key), CostOf(call, 0),
                     rules_[0].observe};
  Outcome outcome;
  return store.Run(Op::kRefund, call.now, &step, &outcome, 1);
}

}  // namespace weir
