// Checks of many keys, handed to the store together.
#include <utility>
#include <vector>

#include "core/cached_call.h"
#include "core/limiter_state.h"
#include "core/rule_set.h"

namespace weir {

std::vector<absl::StatusOr<Decision>> RuleSet::CheckMany(
    Store& store, absl::Span<const std::string_view> keys, int64_t cost) const {
  const size_t n = rules_.size();
  std::vector<const AttachedLimit*> limits(keys.size() * n);
  std::vector<Step> steps(keys.size() * n);
  std::vector<Outcome> outcomes(keys.size() * n);
  std::vector<CachedCall> cached(denials_ == nullptr ? 0 : keys.size());
  std::vector<absl::StatusOr<Decision>> decisions(keys.size());
  std::vector<BatchedCall> asked;
  std::vector<size_t> index;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Call call = CallOf(keys[i], cost);
    if (absl::Status s = CheckCall(call); !s.ok()) {
      decisions[i] = std::move(s);
      continue;
    }
    const size_t count = LayOut(call, 0, &limits[i * n], &steps[i * n]);
    if (!cached.empty()) {
      cached[i].Open(*this, call, &limits[i * n], store.WaitingClock(),
                     denials_.get(), &cached);
      Decision denied;
      if (cached[i].Repeats(&denied)) {
        decisions[i] = std::move(denied);
        continue;
      }
    }
    if (count == 0) {
      decisions[i] = Decide(Op::kCheck, &limits[i * n], nullptr);
    } else {
      BatchedCall& one = asked.emplace_back();
      one.steps = &steps[i * n];
      one.outcomes = &outcomes[i * n];
      one.count = count;
      index.push_back(i);
    }
  }
  if (!asked.empty()) {
    store.RunMany(Op::kCheck, std::nullopt, absl::MakeSpan(asked));
  }
  for (size_t k = 0; k < asked.size(); ++k) {
    const size_t i = index[k];
    decisions[i] =
        DecideCheck(store, std::move(asked[k].status), CallOf(keys[i], cost),
                    &limits[i * n], asked[k].outcomes);
    if (!cached.empty()) cached[i].Learn(decisions[i]);
  }
  return decisions;
}

}  // namespace weir
