// The rules of a limiter, checked and known to its store. Never changes once
// made: a limiter whose rules are replaced makes another.
#ifndef WEIR_CORE_RULE_SET_H_
#define WEIR_CORE_RULE_SET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/denial_cache.h"
#include "weir/decision.h"
#include "weir/limiter.h"
#include "weir/registry.h"
#include "weir/store.h"

namespace weir {

// A limit of a rule: its own, or that of a plan.
struct AttachedLimit {
  CompiledLimit limit;
  std::shared_ptr<const StoreRule> rule;   // null: unlimited, no store is asked
  std::shared_ptr<const StoreRule> local;  // in the outage policy's store
  int64_t soft_above = 0;                  // used above this is flagged
};

// A call with one key and one cost. Both stay as long as it.
inline Call CallOf(const std::string_view& key, const int64_t& cost) {
  Call call;
  call.keys = absl::MakeConstSpan(&key, 1);
  call.costs = absl::MakeConstSpan(&cost, 1);
  return call;
}

// The policy fits the limiter's store. InvalidArgument.
absl::Status CheckOutagePolicy(const OutagePolicy& policy, const Store& store);
// Makes a rule known to the policy's own store, if it has one. InvalidArgument.
absl::Status AttachLocally(const OutagePolicy& policy, const Rule& rule,
                           AttachedLimit* attached);

class RuleSet : public std::enable_shared_from_this<RuleSet> {
 public:
  // `denials`: null if there is no cache of them; else that of the limiter.
  // InvalidArgument names the rule and the field.
  static absl::StatusOr<std::unique_ptr<const RuleSet>> Make(
      Store& store, std::vector<Rule> rules, const LimiterOptions& options,
      std::shared_ptr<DenialCache> denials);

  const std::vector<Rule>& rules() const { return rules_; }
  // One rule, and it is enforced: what it says is the decision.
  bool EnforcesOne() const { return rules_.size() == 1 && !rules_[0].observe; }
  // Equal texts: sets that decide alike, whatever is asked. Empty: it can't be
  // told (functions, plan_of, can't be compared).
  std::string Text() const;

  // How a check with one key and at most one cost is made: by the quick checks
  // of the store, if it has any for the single rule, else in full. They know
  // nothing of tags.
  struct Quick : SingleRule {
    QuickChecks checks;  // none is null
    const RuleSet* set = nullptr;
    Store* store = nullptr;
  };
  const Quick& quick() const { return quick_; }

  // The one rule there is, if it is enforced, has no plans, asks the store and
  // goes by no denial cache; else null. A sound call of it is one step, its
  // decision SingleDecision's.
  const AttachedLimit* single() const { return single_; }
  static bool SingleCallIsSound(std::string_view key, int64_t cost) {
    // A negative cost is a large one without its sign.
    return key.size() <= kMaxKeyBytes &&
           static_cast<uint64_t>(cost) <= static_cast<uint64_t>(kMaxExact);
  }
  static bool TimeIsSound(Time t) {
    return ToMicros(t) <= kMaxExact && ToMicros(t) >= -kMaxExact;
  }

  // The call is sound: keys, costs, time and tag.
  absl::Status CheckCall(const Call& call) const;

  std::string_view KeyOf(const Call& call, size_t rule) const {
    return call.keys[call.keys.size() == 1 ? 0 : rule];
  }
  int64_t CostOf(const Call& call, size_t rule) const {
    if (call.costs.empty()) return 1;
    return call.costs[call.costs.size() == 1 ? 0 : rule];
  }

  // The limit that rules this key: that of its plan, if the rule has plans.
  const AttachedLimit& LimitOf(size_t rule, std::string_view key) const {
    const std::vector<AttachedLimit>& all = attached_[rule];
    if (all.size() == 1) return all[0];
    const int plan = rules_[rule].plan_of(key);
    const bool known = plan >= 0 && static_cast<size_t>(plan) + 1 < all.size();
    return all[known ? static_cast<size_t>(plan) + 1 : 0];
  }

  // A check of the one rule could not be decided: the answer of the outage
  // policy, or `failed`.
  absl::StatusOr<Decision> SingleFailed(const Store& store, absl::Status failed,
                                        const Call& call) const;

  // Refunds what was taken for a reservation, `limit` being its key's: in
  // `store`, where no policy stands in for it; or, if `from` says that a policy
  // took it, in that one's own.
  absl::Status GiveBack(Store& store, const Call& call,
                        const AttachedLimit& limit, Source from) const;

  // As Limiter::CheckMany, whatever the rules.
  std::vector<absl::StatusOr<Decision>> CheckMany(
      Store& store, absl::Span<const Call> calls) const;

  // As Limiter::CheckAsync.
  void CheckAsync(Store& store, const Call& call, DecisionCallback done) const;

  // What was denied to these keys does not hold any more.
  void ForgetDenials(const Call& call) const;

  // Runs a call, but no reservation.
  absl::StatusOr<Decision> Run(Store& store, Op op, const Call& call) const;

  // Takes a turn of at most `max_wait`. Also the wait, in us or kNever, and the
  // limit that it was taken of: plan_of may say another one when it is asked
  // again. FailedPrecondition: it takes no reservations.
  absl::StatusOr<Decision> Reserve(Store& store, const Call& call,
                                   Micros max_wait, int64_t* wait,
                                   const AttachedLimit** limit) const;

 private:
  RuleSet() = default;
  void PrepareQuick(Store* store);
  absl::Status CheckTags(const Call& call) const;
  absl::Status CheckTagsOfKeys(const Call& call) const;
  // The tag of a key of a call that is sound.
  std::string_view TagOf(const Call& call, std::string_view key) const;
  // The decision on a check that the store has run, or could not run.
  absl::StatusOr<Decision> DecideCheck(const Store& store, absl::Status status,
                                       const Call& call,
                                       const AttachedLimit* const* limits,
                                       const Outcome* outcomes) const;
  // Asks the store for a call that is laid out in `count` steps.
  absl::StatusOr<Decision> Ask(Store& store, Op op, const Call& call,
                               const AttachedLimit* const* limits,
                               const Step* steps, size_t count,
                               int64_t max_wait, int64_t* wait) const;
  // The limits of a call's keys, and a step for each rule that asks the store.
  // Returns how many do.
  size_t LayOut(const Call& call, int64_t max_wait,
                const AttachedLimit** limits, Step* steps) const;
  // `instances`: the outcomes are of one part in so many of the limits.
  Decision Decide(Op op, const AttachedLimit* const* limits,
                  const Outcome* outcomes, int64_t instances = 1) const;
  // The store could not run a call: the answer of the outage policy, if it has
  // one for such a failure; else `failed`.
  absl::StatusOr<Decision> Failed(const Store& store, Op op,
                                  absl::Status failed, const Call& call,
                                  const AttachedLimit* const* limits,
                                  int64_t max_wait = 0,
                                  int64_t* wait = nullptr) const;
  absl::StatusOr<Decision> ByPolicy(Op op, const Call& call,
                                    const AttachedLimit* const* limits,
                                    int64_t max_wait, int64_t* wait) const;

  std::vector<Rule> rules_;
  // For each rule its own limit, then those of its plans.
  std::vector<std::vector<AttachedLimit>> attached_;
  const AttachedLimit* single_ = nullptr;
  Quick quick_;
  bool trust_tags_ = false;
  std::function<std::string_view(std::string_view)> tag_of_;
  OutagePolicy outage_;
  std::shared_ptr<DenialCache> denials_;
};

}  // namespace weir

#endif  // WEIR_CORE_RULE_SET_H_
