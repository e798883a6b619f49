// Runs scripts on a Redis or a Redis Cluster.
//
//   absl::StatusOr<std::shared_ptr<Client>> client = Client::Create(options);
//   Reply reply;
//   absl::Status status = (*client)->Run({&script, keys, args}, deadline,
//                                        &reply);
//
// A call is an EVALSHA, followed by one EVAL if the server lacks the text.
// Callers on many threads share one socket: the one that finds it idle writes
// and reads by itself, and meanwhile does it for the others.
//
// Thread safety: every method, from any thread. A child made by fork() may go
// on with the client: it opens sockets of its own at its first call, and the
// calls in flight stay with the parent.
//
// Errors (errors.h tells them apart): an error reply that the call does not
// follow or wait out by itself is a Status, never a Reply, unless it is inside
// an array.
#ifndef WEIR_BACKENDS_REDIS_CLIENT_H_
#define WEIR_BACKENDS_REDIS_CLIENT_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/redis/call.h"
#include "backends/redis/counters.h"
#include "backends/redis/options.h"

namespace weir::redis {

class Client {
 public:
  // Connects to nobody yet, so it works while Redis is down.
  // InvalidArgument: an option. Unavailable: with io_threads, the system has no
  // descriptors or no thread for it now.
  static absl::StatusOr<std::shared_ptr<Client>> Create(
      const ClientOptions& options);
  // Blocks for calls under way. Callbacks that are still owed are called with
  // Cancelled, on this thread.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Blocks until the reply is there, at most until the deadline, everything
  // included. DeadlineExceeded says whether the call may have been run.
  absl::Status Run(const ScriptCall& call, SteadyTime deadline, Reply* reply);

  // All calls as one batch for each node. `out` has an entry for each call.
  // Blocks as Run does. Neighbours that may share a command (each_key) do, up
  // to options.batch of them, but on a cluster, where their keys lie in
  // different slots. Each has its own end all the same, and follows and waits
  // out errors as if it had gone alone.
  void RunMany(absl::Span<const ScriptCall> calls, SteadyTime deadline,
               absl::Span<absl::StatusOr<Reply>> out);

  // Blocks nobody. `done` is called exactly once, by the client's own thread
  // or by the one that calls Process(), possibly before RunAsync returns; it
  // must not block, and may make further asynchronous calls.
  void RunAsync(OwnedCall call, SteadyTime deadline, ReplyCallback done);

  // Without a thread of its own: becomes readable when Process() has work.
  // -1 if there is such a thread, or no descriptor to be had now.
  int event_fd();
  // Does a turn's share of what can be done without blocking, and calls back.
  // One thread at a time; others return at once.
  void Process();

  // On a cluster, a slot of each master, its lowest, as far as the map knows;
  // it knows none before the first call. Else -1 alone: any slot.
  std::vector<int> SlotOfEachMaster() const;

  Counters counters() const;

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_CLIENT_H_
