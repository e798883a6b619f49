// A decision: what a limiter answered, in numbers.
//
//   absl::StatusOr<weir::Decision> d = limiter->Check("user:42");
//   if (d.ok() && !d->allowed) reject(d->retry_after);
//
// A denied call is a decision, not an error. A call that could not be decided
// (the store is full or does not answer) is a Status that is not ok.
#ifndef WEIR_DECISION_H_
#define WEIR_DECISION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/inlined_vector.h"
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
  // The most that can pass at once (gcra: the burst).
  int64_t limit = 0;
  // How many calls of cost 1 would pass now, after this call.
  int64_t remaining = 0;
  // 0 if this call would pass now; nothing if no wait ever helps.
  std::optional<Micros> retry_after = Micros(0);
  // When the key equals a fresh one again; 0 if it does now.
  Micros reset_after{0};
};

struct Decision {
  // Every rule that is enforced allowed the call, and was charged.
  bool allowed = true;
  // A rule is over its soft share. Never a reason to deny.
  bool soft = false;
  Source source = Source::kStore;
  // The index in `rules()` of the rule that decided: of those that denied the
  // one with the greatest wait; if all allowed, the one with the least
  // remaining. The first listed where two are alike.
  int rule = 0;
  // That rule's limit.
  int64_t limit = 0;
  // The least over all enforced rules: calls of cost 1 that would pass now.
  // kMaxExact where no rule is a bound.
  int64_t remaining = 0;
  // 0 if allowed. Denied: the wait after which the same call passes if nothing
  // else comes; nothing at all if no wait ever helps.
  std::optional<Micros> retry_after = Micros(0);
  // The greatest over all enforced rules: when every key equals a fresh one.
  Micros reset_after{0};

  // No wait ever helps: the cost is above a limit, or a limit is 0.
  bool never() const { return !retry_after.has_value(); }

  // One verdict for each rule of the limiter, in its order.
  absl::Span<const RuleVerdict> rules() const { return verdicts; }

  // Filled by the limiter; read through rules().
  absl::InlinedVector<RuleVerdict, 1> verdicts;
};

}  // namespace weir

#endif  // WEIR_DECISION_H_
