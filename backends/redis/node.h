// One server: its connections and its breaker. Thread safe.
#ifndef WEIR_BACKENDS_REDIS_NODE_H_
#define WEIR_BACKENDS_REDIS_NODE_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/redis/batch.h"
#include "backends/redis/breaker.h"
#include "backends/redis/link.h"
#include "backends/redis/options.h"
#include "backends/redis/stream.h"
#include "backends/redis/tally.h"

namespace weir::redis {

class Node {
 public:
  // `options` and `tally` outlive it.
  Node(Address address, const ClientOptions& options, Tally* tally);

  const Address& address() const { return address_; }
  const std::string& name() const { return name_; }
  Breaker& breaker() { return breaker_; }

  // It is connected to, and has said by INFO that it is a server: else it may
  // be a proxy, with servers behind it that have some of the keys each.
  bool IsOneServer() const;

  // Sends a batch on the connection there is. Null: there is none, and Connect
  // does it; or `refused` is set, every ticket has failed and was not run, and
  // the status in full is in batch->status.
  std::shared_ptr<SharedStream> Begin(Batch* batch, SteadyTime now,
                                      SteadyTime deadline, bool* refused);
  // After Begin: connects and sends it. Null: as if refused.
  std::shared_ptr<SharedStream> Connect(Batch* batch, SteadyTime now,
                                        SteadyTime deadline);
  // Waits for it.
  void Finish(SharedStream* stream, Batch* batch, SteadyTime deadline);

  // A failure that the breaker counts.
  void NoteFailure(const absl::Status& status);
  // A connection that was made then broke under calls. One failure, however
  // many calls it took along, and however many connections went with it: one
  // that was there already when another broke says nothing new of the server.
  void NoteBreak(SteadyTime made, Reason reason, std::string_view words);
  // A call's deadline passed after the server had been silent for so long. One
  // in more of a hurry than that says nothing about the server. `status` says
  // what was waited for.
  void NoteTimeout(std::chrono::microseconds silence,
                   const absl::Status& status);

  // The connections are made anew, and the host looked up again; not more often
  // than once in options.max_retry_interval, since each call that meets a
  // replica asks for it.
  void Reconnect();
  // Grows with each: connections of an earlier one are to be given up.
  uint64_t generation() const {
    return generation_.load(std::memory_order_relaxed);
  }

 private:
  Link& Choose();
  void Refuse(Batch* batch, absl::Status status);
  // The stream would not take the batch.
  bool RefuseIfOverloaded(Batch* batch);

  const Address address_;
  const std::string name_;
  const SteadyTime::duration between_reconnects_;
  Tally* const tally_;
  Breaker breaker_;
  std::vector<std::unique_ptr<Link>> links_;
  // Relaxed: nothing else is passed on.
  // Both in ticks of the steady clock.
  std::atomic<int64_t> next_reconnect_{0};
  std::atomic<int64_t> last_break_{0};  // that was counted
  std::atomic<uint64_t> generation_{0};
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_NODE_H_
