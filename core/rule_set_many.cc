// Checks of many calls, handed to the store together.
#include <utility>
#include <vector>

#include "core/cached_call.h"
#include "core/rule_set.h"

namespace weir {

std::vector<absl::StatusOr<Decision>> RuleSet::CheckMany(
    Store& store, absl::Span<const Call> calls) const {
  const size_t n = rules_.size();
  std::vector<const AttachedLimit*> limits(calls.size() * n);
  std::vector<Step> steps(calls.size() * n);
  std::vector<Outcome> outcomes(calls.size() * n);
  std::vector<CachedCall> cached(denials_ == nullptr ? 0 : calls.size());
  std::vector<absl::StatusOr<Decision>> decisions(calls.size());
  std::vector<BatchedCall> asked;
  std::vector<size_t> index;
  // The store is given one time for all that it is asked together.
  const auto ask = [&] {
    if (asked.empty()) return;
    store.RunMany(Op::kCheck, calls[index[0]].now, absl::MakeSpan(asked));
    for (size_t k = 0; k < asked.size(); ++k) {
      const size_t i = index[k];
      decisions[i] = DecideCheck(store, std::move(asked[k].status), calls[i],
                                 &limits[i * n], asked[k].outcomes);
      if (!cached.empty()) cached[i].Learn(decisions[i]);
    }
    asked.clear();
    index.clear();
  };
  // The user's functions are asked before anything is charged: they can throw.
  std::vector<size_t> sound;
  std::vector<size_t> counts(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    if (absl::Status s = CheckCall(calls[i]); !s.ok()) {
      decisions[i] = std::move(s);
      continue;
    }
    counts[i] = LayOut(calls[i], 0, &limits[i * n], &steps[i * n]);
    sound.push_back(i);
  }
  for (const size_t i : sound) {
    const Call& call = calls[i];
    if (!cached.empty()) {
      cached[i].Open(*this, call, &limits[i * n], store.WaitingClock(),
                     denials_.get(), &cached);
      Decision denied;
      if (cached[i].Repeats(&denied)) {
        decisions[i] = std::move(denied);
        continue;
      }
    }
    if (counts[i] == 0) {
      decisions[i] = Decide(Op::kCheck, &limits[i * n], nullptr);
    } else {
      if (!index.empty() && calls[index[0]].now != call.now) ask();
      BatchedCall& one = asked.emplace_back();
      one.steps = &steps[i * n];
      one.outcomes = &outcomes[i * n];
      one.count = counts[i];
      index.push_back(i);
    }
  }
  ask();
  return decisions;
}

}  // namespace weir
