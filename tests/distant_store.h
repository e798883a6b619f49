// A store of another machine, as far as a limiter can tell: it fails when a
// test says so, and answers asynchronous calls when it says so.
#ifndef WEIR_TESTS_DISTANT_STORE_H_
#define WEIR_TESTS_DISTANT_STORE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/memory_store.h"
#include "weir/store.h"

namespace weir {

// An embedded store behind a wire that breaks.
class DistantStore final : public Store {
 public:
  explicit DistantStore(std::shared_ptr<MemoryStore> inner)
      : inner_(std::move(inner)) {}

  Time Now() const override { return inner_->Now(); }
  const Clock& WaitingClock() const override { return inner_->WaitingClock(); }
  absl::StatusOr<std::shared_ptr<const StoreRule>> Attach(
      std::string_view name, const CompiledLimit& limit) override {
    return inner_->Attach(name, limit);
  }
  absl::Status Run(Op op, std::optional<Time> now, const Step* steps,
                   Outcome* outcomes, size_t count) override {
    ++calls;
    if (before_answer) before_answer();
    if (!failure.ok()) return failure;
    const absl::Status s = inner_->Run(op, now, steps, outcomes, count);
    if (after_answer) after_answer();
    return s;
  }
  // Answers when Deliver is called.
  void RunAsync(Op op, std::optional<Time> now, const Step* steps,
                Outcome* outcomes, size_t count,
                std::function<void(absl::Status)> done) override {
    if (answer_late) {
      const absl::Status status = Run(op, now, steps, outcomes, count);
      open_.push_back([=, done = std::move(done)] { done(status); });
      return;
    }
    open_.push_back([=, done = std::move(done)] {
      done(Run(op, now, steps, outcomes, count));
    });
  }
  bool IsOutage(const absl::Status& status) const override {
    return absl::IsUnavailable(status);
  }
  bool MayHaveRun(const absl::Status&) const override { return may_have_run; }

  void Deliver() {
    for (const auto& one : std::exchange(open_, {})) one();
  }

  absl::Status failure;
  // Nobody knows whether what failed was run.
  bool may_have_run = false;
  // Called while a call is on its way: before it is decided, and after.
  std::function<void()> before_answer;
  std::function<void()> after_answer;
  // Asynchronous calls are decided at once, and told later.
  bool answer_late = false;
  std::atomic<int> calls{0};

 private:
  const std::shared_ptr<MemoryStore> inner_;
  std::vector<std::function<void()>> open_;
};

}  // namespace weir

#endif  // WEIR_TESTS_DISTANT_STORE_H_
