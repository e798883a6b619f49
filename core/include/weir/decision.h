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
#include <initializer_list>
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
  // The most that can pass at once (gcra: the burst).
  int64_t limit = 0;
  // How many calls of cost 1 would pass now, after this call.
  int64_t remaining = 0;
  // 0 if this call would pass now; nothing if no wait ever helps.
  std::optional<Micros> retry_after = Micros(0);
  // When the key equals a fresh one again; 0 if it does now.
  Micros reset_after{0};
};

// Verdicts, one of them without a heap block.
class RuleVerdicts {
 public:
  RuleVerdicts() {}  // NOLINT(modernize-use-equals-default): see Decision
  RuleVerdicts(std::initializer_list<RuleVerdict> all) {
    for (const RuleVerdict& v : all) push_back(v);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  RuleVerdict* data() { return size_ > 1 ? many_.data() : &one_; }
  const RuleVerdict* data() const { return size_ > 1 ? many_.data() : &one_; }
  RuleVerdict& operator[](size_t i) { return data()[i]; }
  const RuleVerdict& operator[](size_t i) const { return data()[i]; }
  const RuleVerdict* begin() const { return data(); }
  const RuleVerdict* end() const { return data() + size_; }

  // One verdict, as it is by default, where there was none.
  RuleVerdict& AddFirst() {
    size_ = 1;
    return one_;
  }
  void resize(size_t n) {
    if (size_ <= 1 && n > 1) many_.assign(size_, one_);
    if (n > 1) {
      many_.resize(n);
    } else if (size_ > 1 && n == 1) {
      one_ = many_[0];
    } else if (size_ < n) {
      one_ = RuleVerdict();
    }
    size_ = n;
  }
  void push_back(const RuleVerdict& v) {
    const RuleVerdict copy = v;  // `v` may be one of these
    resize(size_ + 1);
    data()[size_ - 1] = copy;
  }

 private:
  size_t size_ = 0;
  RuleVerdict one_;                // if size_ is 1
  std::vector<RuleVerdict> many_;  // all of them, if it is more
};

struct Decision {
  // Not defaulted, so that a value of it is not zeroed before it is filled.
  Decision() {}  // NOLINT(modernize-use-equals-default)

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
  absl::Span<const RuleVerdict> rules() const {
    return {verdicts.data(), verdicts.size()};
  }

  // Filled by the limiter; read through rules().
  RuleVerdicts verdicts;
};

}  // namespace weir

#endif  // WEIR_DECISION_H_
