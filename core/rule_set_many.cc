// Checks of many keys, handed to the store together.
#include <utility>
#include <vector>

#include "core/limiter_state.h"
#include "core/rule_set.h"

namespace weir {

std::vector<absl::StatusOr<Decision>> RuleSet::CheckMany(
    Store& store, absl::Span<const std::string_view> keys, int64_t cost) const {
  const size_t n = rules_.size();
  std::vector<const AttachedLimit*> limits(keys.size() * n);
  std::vector<Step> steps(keys.size() * n);
  std::vector<Outcome> outcomes(keys.size() * n);
  // One for each key. Without steps: it is not sound, or asks no store.
  std::vector<BatchedCall> calls(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const Call call = CallOf(keys[i], cost);
    calls[i].steps = &steps[i * n];
    calls[i].outcomes = &outcomes[i * n];
    calls[i].status = CheckCall(call);
    if (calls[i].status.ok()) {
      calls[i].count = LayOut(call, 0, &limits[i * n], &steps[i * n]);
    }
  }
  std::vector<BatchedCall> asked;
  std::vector<size_t> index;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].count == 0) continue;
    asked.push_back(calls[i]);
    index.push_back(i);
  }
  if (!asked.empty()) {
    store.RunMany(Op::kCheck, std::nullopt, absl::MakeSpan(asked));
  }
  for (size_t i = 0; i < asked.size(); ++i) {
    calls[index[i]].status = std::move(asked[i].status);
  }
  std::vector<absl::StatusOr<Decision>> decisions;
  decisions.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    absl::Status& failed = calls[i].status;
    if (failed.ok()) {
      decisions.push_back(
          Decide(Op::kCheck, &limits[i * n], calls[i].outcomes));
    } else if (calls[i].count > 0 && HasAnswer(store, Op::kCheck, failed)) {
      decisions.push_back(ByPolicy(Op::kCheck, CallOf(keys[i], cost),
                                   &limits[i * n], 0, nullptr));
    } else {
      decisions.push_back(std::move(failed));
    }
  }
  return decisions;
}

}  // namespace weir
