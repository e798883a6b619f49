// A place for one shared connection to a node: makes it when somebody needs
// it, and anew when it has failed. Callers that come while it is being made
// wait for it; if the one who makes it runs out of time, another goes on.
// An attempt that fails is told once, whoever waited for it. Thread safe.
#ifndef WEIR_BACKENDS_REDIS_LINK_H_
#define WEIR_BACKENDS_REDIS_LINK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/redis/dialer.h"
#include "backends/redis/options.h"
#include "backends/redis/stream.h"
#include "backends/redis/tally.h"
#include "core/mutex.h"

namespace weir::redis {

class Link {
 public:
  // Told of each attempt that failed, by a thread that calls Get.
  using OnFailure = std::function<void(const absl::Status&)>;

  // `options` and `tally` outlive it.
  Link(Address address, const ClientOptions& options, Tally* tally,
       OnFailure on_failure)
      : address_(std::move(address)),
        options_(options),
        tally_(tally),
        on_failure_(std::move(on_failure)) {}

  // The connection there is, as far as is known; or null.
  std::shared_ptr<SharedStream> Current() ABSL_LOCKS_EXCLUDED(mutex_);
  // The same, but blocks while one is made.
  absl::StatusOr<std::shared_ptr<SharedStream>> Get(SteadyTime deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // If it is still that one, the next call connects anew.
  void Drop(const SharedStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);
  // The next call connects anew, which looks the host up again.
  void Reset() ABSL_LOCKS_EXCLUDED(mutex_);
  // How long the server has kept those waiting who want a connection, without
  // a step forward. 0: none is being made.
  std::chrono::microseconds Silence(SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);
  // The last server that was connected to said its version.
  bool knows_version() const {
    return knows_version_.load(std::memory_order_relaxed);
  }
  // Calls in flight.
  size_t load() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Goes on with dialer_ until it is through or the deadline has passed.
  Dialer::Step Dial(Dialer* dialer, SteadyTime deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status TimedOut() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Address address_;
  const ClientOptions& options_;
  Tally* const tally_;
  const OnFailure on_failure_;
  Mutex mutex_;
  CondVar changed_;
  std::shared_ptr<SharedStream> stream_ ABSL_GUARDED_BY(mutex_);
  // Kept between callers; used without the lock by whoever set `dialing_`.
  std::unique_ptr<Dialer> dialer_ ABSL_GUARDED_BY(mutex_);
  bool dialing_ ABSL_GUARDED_BY(mutex_) = false;
  // Which of the host's addresses the next dialer tries first: the one after
  // where the last attempt ended, if it failed.
  size_t first_address_ ABSL_GUARDED_BY(mutex_) = 0;
  // What the dialer waits for, and since when.
  std::string doing_ ABSL_GUARDED_BY(mutex_);
  SteadyTime since_ ABSL_GUARDED_BY(mutex_);
  // Attempts that failed, and how the last one did.
  uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status last_error_ ABSL_GUARDED_BY(mutex_);
  // Relaxed: nothing else is passed on.
  std::atomic<bool> knows_version_{false};
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_LINK_H_
