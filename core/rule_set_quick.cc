// Checks with one key and at most one cost.
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/fixed_array.h"
#include "core/rule_set.h"
#include "core/single_decision.h"

namespace weir {
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

}  // namespace weir
