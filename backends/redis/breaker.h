// Keeps a node that does not answer from costing its callers time.
//
// Closed: every call goes through. After a number of failures in a row it
// opens: calls are turned away, but for one probing call at a time. The next
// one follows an interval after the last has failed, and the intervals grow.
// The first good reply closes it. Thread safe; asking costs one atomic load
// while it is closed.
#ifndef WEIR_BACKENDS_REDIS_BREAKER_H_
#define WEIR_BACKENDS_REDIS_BREAKER_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "backends/redis/call.h"
#include "backends/redis/options.h"
#include "core/mutex.h"

namespace weir::redis {

class Breaker {
 public:
  enum class Verdict { kGo, kProbe, kNo };

  // `seed` chooses where in an interval this one's probes fall.
  Breaker(const ClientOptions& options, uint64_t seed);

  // `deadline`: of the call that asks. If that is the probe, no other is made
  // before then, or within a second, unless it has failed.
  Verdict Ask(SteadyTime now, SteadyTime deadline);
  // Something was answered, by a server that has its data.
  void Succeed() {
    if (failures_.load(std::memory_order_relaxed) != 0) Close();
  }
  // Nothing was. `why` is told to those who are turned away.
  void Fail(SteadyTime now, const absl::Status& why);
  // Told to those who are turned away.
  absl::Status Why() const;
  bool is_open() const {
    return failures_.load(std::memory_order_relaxed) >= limit_;
  }

 private:
  void Close();
  // The next probe is made an interval after `now`, and not before `after`.
  void Schedule(SteadyTime now, SteadyTime after)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int limit_;
  const std::chrono::microseconds min_interval_;
  const std::chrono::microseconds max_interval_;
  // Read without the lock, written with it. Relaxed: only a hint passes
  // through them; what was decided is behind the lock.
  std::atomic<int> failures_{0};
  std::atomic<int64_t> next_probe_{0};  // ticks of the steady clock
  mutable Mutex mutex_;
  std::chrono::microseconds interval_ ABSL_GUARDED_BY(mutex_);
  uint64_t random_ ABSL_GUARDED_BY(mutex_);
  absl::Status why_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_BREAKER_H_
