// Drives the asynchronous calls: one epoll set for all nodes, driven by one
// thread at a time, the client's own or the caller's event loop.
//
// The loop is opened when it is first needed. While the system is out of
// descriptors or threads calls are refused, and each tries to open it again.
//
// Submit is for any thread. Everything else happens in Process, callbacks
// included. It makes one turn, in which replies, deadlines, new calls and those
// that lost their connection each have a share; what is left over comes in the
// next one.
#ifndef WEIR_BACKENDS_REDIS_REACTOR_H_
#define WEIR_BACKENDS_REDIS_REACTOR_H_

#include <atomic>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "backends/redis/async_call.h"
#include "backends/redis/channel.h"
#include "backends/redis/cluster_map.h"
#include "backends/redis/fifo.h"
#include "backends/redis/options.h"
#include "backends/redis/tally.h"
#include "backends/redis/timer_heap.h"
#include "core/mutex.h"

namespace weir::redis {

class Reactor final : public Channel::Owner {
 public:
  // All outlive it.
  Reactor(const ClientOptions& options, ClusterMap* map, Tally* tally);
  // Calls back with Cancelled whatever is still under way.
  ~Reactor() override;
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  // With options.io_threads it starts its thread. kUnreachable: it can't work
  // now, and why. Any thread, as often as one likes.
  absl::Status Open() ABSL_LOCKS_EXCLUDED(open_mutex_);
  void Submit(std::unique_ptr<AsyncCall> call)
      ABSL_LOCKS_EXCLUDED(inbox_mutex_);
  // Readable when Process has work. -1: it can't be opened now.
  int fd() { return Open().ok() ? epoll_ : -1; }
  // `wait`: until there is something to do; else returns at once.
  void Process(bool wait);

 private:
  void OnAttempt(AsyncCall* call, const Attempt& attempt) override;
  void OnMap(const Reply& slots, Node* node) override;
  void OnQueued(Channel* channel) override { unflushed_.push_back(channel); }
  void OnLost(Channel* channel) override { lost_.Push(channel); }
  void OnWatch(Channel* channel, int fd, uint32_t events) override;

  // An errno, or 0.
  int OpenDescriptors() ABSL_EXCLUSIVE_LOCKS_REQUIRED(open_mutex_);
  void CloseDescriptors();
  bool IsOpen() const { return open_.load(std::memory_order_acquire); }
  void Turn(bool wait);
  // A turn without a loop, in which there are only refused calls.
  void TellRefused() ABSL_LOCKS_EXCLUDED(inbox_mutex_);
  // All that was submitted goes in line; from there its deadline counts.
  void TakeInbox() ABSL_LOCKS_EXCLUDED(inbox_mutex_);
  void LaunchSome() ABSL_LOCKS_EXCLUDED(inbox_mutex_);
  // The first, as long as there is no more of a crowd than can be served. When
  // that one has waited for half its time the others would too, and all be
  // late: then the last, which has most of its time left.
  AsyncCall* NextInLine();
  void TellLost();
  // Makes the next attempt, or ends the call.
  void Launch(AsyncCall* call);
  void Refresh(const Node* silent, Node* near);
  // Until its course wants the next attempt.
  void Pause(AsyncCall* call);
  void Finish(AsyncCall* call, Reply* reply);
  void RunTimers();
  void ArmTimer();
  void Wake();
  void FlushAll();
  Channel* ChannelOf(Node* node);

  const ClientOptions& options_;
  ClusterMap* const map_;
  Tally* const tally_;
  Mutex open_mutex_;
  // Release by who has opened it; acquire by who uses what follows, which does
  // not change from then on.
  std::atomic<bool> open_{false};
  int epoll_ = -1;
  int wake_fd_ = -1;
  int timer_fd_ = -1;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> in_flight_{0};

  Mutex inbox_mutex_;
  std::vector<AsyncCall*> inbox_ ABSL_GUARDED_BY(inbox_mutex_);
  bool woken_ ABSL_GUARDED_BY(inbox_mutex_) = false;

  // Whoever drives it has this; all below is theirs.
  Mutex driver_;
  SteadyTime now_{};
  TimerHeap timers_;
  SteadyTime armed_{};  // when the timer fires; the epoch: it is not armed
  std::unordered_map<Node*, std::unique_ptr<Channel>> channels_;
  std::vector<Channel*> unflushed_;
  Fifo<Channel*> lost_;  // with calls that have lost their connection
  std::vector<AsyncCall*> taken_;
  Fifo<AsyncCall*> line_;  // for their first attempt; null: over meanwhile
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_REACTOR_H_
