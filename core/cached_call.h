// One check on its way through a limiter's denial cache.
#ifndef WEIR_CORE_CACHED_CALL_H_
#define WEIR_CORE_CACHED_CALL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/denial_cache.h"
#include "weir/decision.h"
#include "weir/limiter.h"

namespace weir {

class Clock;
class RuleSet;

// Stays where it is. Not opened: a check that the cache has no part in.
class CachedCall {
 public:
  CachedCall() = default;
  CachedCall(const CachedCall&) = delete;
  CachedCall& operator=(const CachedCall&) = delete;

  // What the call points to, and `limits`, stay as long as this. `cache`: may
  // be null. `asker`: null, or the same for all calls that are made at once.
  void Open(const RuleSet& rules, const Call& call,
            const AttachedLimit* const* limits, const Clock& clock,
            DenialCache* cache, const void* asker = nullptr);
  // An earlier denial answers it. If not, Learn has to follow.
  bool Repeats(Decision* d);
  void Learn(const absl::StatusOr<Decision>& d);

  // The keys and the tag of a call as one text, made in `text` if need be.
  static std::string_view KeysOf(const Call& call, std::string* text);

 private:
  DenialCache* cache_ = nullptr;
  const Clock* clock_ = nullptr;
  std::string text_;
  absl::InlinedVector<int64_t, 4> costs_;
  DenialCache::Question question_;
  DenialCache::Asking asking_;
};

}  // namespace weir

#endif  // WEIR_CORE_CACHED_CALL_H_
