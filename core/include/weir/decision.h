// A decision: what a limiter answered, in numbers.
//
//   absl::StatusOr<weir::Decision> d = limiter->Check("user:42");
//   if (d.ok() && !d->allowed) reject(d->retry_after);
//
// A denied call is a decision, not an error. A call that could not be decided
// (the store is full or does not answer) is a Status that is not ok.
#ifndef WEIR_DECISION_H_
#define WEIR_DECISION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "weir/time.h"

namespace weir {

// Where a decision was made.
enum class Source : uint8_t {
  kStore,        // by the state in the store
  kDenialCache,  // an earlier denial, repeated locally
  kPolicy,       // by the outage policy: the store did not answer
};

// What one rule had to say about a call.
struct RuleVerdict {
  // The rule's name; lives as long as its limiter.
  std::string_view name;
  // This rule's own verdict, from before anything was charged.
  bool allowed = true;
  // The rule only watches: its verdict did not count.
  bool observe = false;
  // More than the rule's `soft` share of its limit is used.
  bool soft = false;
  // The most that can pass at once with a fresh key (gcra: the burst). An
  // uncapped windowed_token_bucket may have more remaining later on.
  int64_t limit = 0;
  // How many calls of cost 1 would pass now, after this call.
  int64_t remaining = 0;
  // 0 if this call would pass now; nothing if no wait ever helps.
  std::optional<Micros> retry_after = Micros(0);
  // When the key equals a fresh one again; 0 if it does now.
  Micros reset_after{0};
};

// The verdict on a call. Of several rules, what they make together; of one that
// is enforced, its own, so that nothing is written twice:
//   name         of the rule that decided: of those that denied the one with
//                the greatest wait; if all allowed, the one with the least
//                remaining; the first listed where two are alike
//   allowed      every rule that is enforced allowed the call, and was charged
//   soft         one of them is over its soft share; never a reason to deny
//   limit        of the rule that decided
//   remaining    the least over all enforced rules; kMaxExact where none is a
//                bound
//   retry_after  0 if allowed; denied: the wait after which the same call
//                passes if nothing else comes; nothing if no wait ever helps
//   reset_after  the greatest over all enforced rules: when every key equals a
//                fresh one
struct Decision : RuleVerdict {
  // Not defaulted, so that a value of it is not zeroed before it is filled.
  Decision() {}  // NOLINT(modernize-use-equals-default)

  Source source = Source::kStore;
  // The index in `rules()` of the rule that decided.
  int rule = 0;

  // No wait ever helps: the cost is above a limit, or a limit is 0.
  bool never() const { return !retry_after.has_value(); }

  // One verdict for each rule of the limiter, in its order.
  absl::Span<const RuleVerdict> rules() const {
    if (verdicts.empty()) return {this, 1};
    return verdicts;
  }

  // Filled by the limiter; read through rules(). Empty: there is one rule, and
  // this is its verdict.
  std::vector<RuleVerdict> verdicts;
};

}  // namespace weir

#endif  // WEIR_DECISION_H_
