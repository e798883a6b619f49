#include "core/cached_call.h"

#include "core/rule_set.h"
#include "weir/clock.h"

namespace weir {

void CachedCall::Open(const RuleSet& rules, const Call& call,
                      const AttachedLimit* const* limits, const Clock& clock,
                      DenialCache* cache, const void* asker) {
  if (cache == nullptr || call.now.has_value()) return;
  const size_t n = rules.rules().size();
  for (size_t i = 0; i < n; ++i) {
    const int64_t cost = rules.CostOf(call, i);
    // What asks without taking, or can never pass, is not for the cache.
    if (limits[i]->rule != nullptr &&
        (cost == 0 || cost > limits[i]->limit.traits.capacity)) {
      return;
    }
    costs_.push_back(cost);
  }
  question_.keys = KeysOf(call, &text_);
  if (question_.keys.size() > DenialCache::kMostKeyBytes) return;
  question_.form = 2 * call.keys.size() + (call.tag.has_value() ? 1 : 0);
  question_.limits = absl::MakeConstSpan(limits, n);
  question_.costs = costs_;
  asking_.asker = asker != nullptr ? asker : this;
  clock_ = &clock;
  cache_ = cache;
}

std::string_view CachedCall::KeysOf(const Call& call, std::string* text) {
  if (call.keys.size() == 1 && !call.tag.has_value()) return call.keys[0];
  const auto add = [text](std::string_view part) {
    const auto size = static_cast<uint32_t>(part.size());
    for (int shift = 0; shift < 32; shift += 8) {
      text->push_back(static_cast<char>(size >> shift));
    }
    text->append(part);
  };
  add(call.tag.value_or(""));
  for (const std::string_view key : call.keys) add(key);
  return *text;
}

bool CachedCall::Repeats(Decision* d) {
  return cache_ != nullptr &&
         cache_->Repeat(question_, ToMicros(clock_->Now()), d, &asking_);
}

void CachedCall::Learn(const absl::StatusOr<Decision>& d) {
  if (cache_ == nullptr) return;
  cache_->Learn(question_, asking_, ToMicros(clock_->Now()),
                d.ok() ? &*d : nullptr);
}

}  // namespace weir
