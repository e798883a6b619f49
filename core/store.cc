#include "weir/store.h"

#include <utility>

namespace weir {

const Clock& Store::WaitingClock() const {
  // Never destroyed: a limiter that outlives main may wait by it.
  static const SteadyClock* const clock = new SteadyClock();
  return *clock;
}

QuickChecks Store::QuickChecksOf(const StoreRule&) const { return {}; }

void Store::RunEach(Op op, std::optional<Time> now, const Step* steps,
                    Outcome* outcomes, absl::Status* statuses, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    statuses[i] = Run(op, now, &steps[i], &outcomes[i], 1);
  }
}

void Store::RunMany(Op op, std::optional<Time> now,
                    absl::Span<BatchedCall> calls) {
  for (BatchedCall& call : calls) {
    call.status = Run(op, now, call.steps, call.outcomes, call.count);
  }
}

void Store::RunAsync(Op op, std::optional<Time> now, const Step* steps,
                     Outcome* outcomes, size_t count,
                     std::function<void(absl::Status)> done) {
  const std::function<void(absl::Status)> told = std::move(done);
  told(Run(op, now, steps, outcomes, count));
}

bool Store::IsOutage(const absl::Status&) const { return false; }

bool Store::MayHaveRun(const absl::Status&) const { return false; }

absl::StatusOr<std::unique_ptr<Binding>> Store::Bind(const StoreRule&,
                                                     std::string_view) {
  return nullptr;
}

}  // namespace weir
