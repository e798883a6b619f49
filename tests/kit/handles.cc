#include "weir/testing/handles.h"

#include <utility>

namespace weir {
namespace testing {

absl::StatusOr<const BoundKey*> Handles::Of(const Limiter& limiter,
                                            std::string_view key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto found = handles_.find(key);
  if (found == handles_.end()) {
    absl::StatusOr<BoundKey> handle = limiter.Bind(key);
    if (!handle.ok()) return handle.status();
    found = handles_.emplace(std::string(key), *std::move(handle)).first;
  }
  return &found->second;
}

absl::StatusOr<Decision> Handles::Run(const Limiter& limiter, Op op,
                                      const Call& call) {
  const Rule& rule = limiter.rules()[0];
  if (limiter.rules().size() > 1 || rule.observe) return limiter.Run(op, call);
  const absl::StatusOr<const BoundKey*> handle = Of(limiter, call.keys[0]);
  if (!handle.ok()) return handle.status();
  if (op != Op::kCheck) return limiter.Run(op, call);
  const int64_t cost = call.costs.empty() ? 1 : call.costs[0];
  const absl::StatusOr<BoundDecision> bound =
      call.now.has_value() ? (*handle)->CheckAt(*call.now, cost)
                           : (*handle)->Check(cost);
  if (!bound.ok()) return bound.status();
  Decision d;
  d.name = rule.name;
  d.allowed = bound->allowed();
  d.limit = bound->limit();
  d.remaining = bound->remaining();
  d.retry_after = bound->retry_after();
  d.reset_after = bound->reset_after();
  return d;
}

}  // namespace testing
}  // namespace weir
