// One node's connection for asynchronous calls. Never blocks; used only by the
// thread that drives the reactor, which tells it when its socket is ready.
#ifndef WEIR_BACKENDS_REDIS_CHANNEL_H_
#define WEIR_BACKENDS_REDIS_CHANNEL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/redis/async_call.h"
#include "backends/redis/dialer.h"
#include "backends/redis/fifo.h"
#include "backends/redis/node.h"
#include "backends/redis/options.h"
#include "backends/redis/resp.h"
#include "backends/redis/socket.h"
#include "backends/redis/tally.h"

namespace weir::redis {

class Channel {
 public:
  // What the channel tells the reactor.
  class Owner {
   public:
    virtual ~Owner() = default;
    // The call is no longer in the channel.
    virtual void OnAttempt(AsyncCall* call, const Attempt& attempt) = 0;
    virtual void OnMap(const Reply& slots, Node* node) = 0;
    // Something was queued: call Flush when convenient.
    virtual void OnQueued(Channel* channel) = 0;
    // Calls have lost their connection: call TellLost when convenient.
    virtual void OnLost(Channel* channel) = 0;
    // The descriptor to watch, and for what (EPOLLIN, EPOLLOUT), has changed.
    // -1: none.
    virtual void OnWatch(Channel* channel, int fd, uint32_t events) = 0;
  };

  // All outlive it.
  Channel(Node* node, const ClientOptions& options, Tally* tally, Owner* owner);

  Node* node() const { return node_; }
  // What the reactor has in its epoll set for it.
  int watched_fd = -1;
  uint32_t watched_events = 0;
  bool queued = false;  // OnQueued was called, and Flush not yet

  // Many calls are under way, and their answers take longer than there is until
  // the deadline: one more would be late too, and charged all the same.
  bool WouldBeLate(SteadyTime deadline, SteadyTime now);
  void Queue(AsyncCall* call, SteadyTime now);
  void QueueMapRefresh(SteadyTime now);
  // The call gave up waiting; its reply will be dropped. True: it may be run
  // all the same.
  bool Forget(AsyncCall* call);

  void Flush();
  // Tells so many of those that have lost their connection, and connects for
  // those that came meanwhile when all are told. How many it looked at.
  int TellLost(int most, SteadyTime now);
  void OnReady(uint32_t events, SteadyTime now);
  // When it wants OnTime; the end of time if never.
  SteadyTime NextTime();
  void OnTime(SteadyTime now);
  // What a call that was not sent waits for, for the words "the deadline passed
  // ...".
  std::string Doing() const;
  // How long the server has owed a reply, or the next step to a connection,
  // without sending anything.
  std::chrono::microseconds Silence(SteadyTime now);

 private:
  enum class Kind : uint8_t { kCall, kDropped, kAsking, kMap };
  struct Slot {
    AsyncCall* call = nullptr;
    Kind kind = Kind::kDropped;
    uint64_t end = 0;
    SteadyTime since{};
  };

  void Dial(SteadyTime now);
  void GoOnDialing(SteadyTime now);
  void Send(AsyncCall* call, SteadyTime now);
  void Push(AsyncCall* call, Kind kind, SteadyTime now);
  void Receive(SteadyTime now);
  void HandOut(Reply* reply);
  // Closes; everything that was sent is lost.
  void Break(Reason reason, std::string_view words);
  // The node wants its connections made anew: this one takes no more calls, and
  // is replaced when those on their way are answered.
  bool IsOutdated() const;
  void ReplaceIfOutdated();
  // Everything that was sent has failed for that reason, in words, if `status`
  // is ok. Else everything that waits for a connection has, with that status.
  void Lose(Reason reason, const absl::Status& status, std::string words);
  // Something wants a connection, and there is none, nor is one being made.
  bool WantsToDial() const;
  void Watch();

  Node* const node_;
  const ClientOptions& options_;
  Tally* const tally_;
  Owner* const owner_;

  std::unique_ptr<Dialer> dialer_;
  uint32_t dialer_events_ = 0;
  size_t first_address_ = 0;  // for the next dialer, as Link has it
  uint64_t generation_ = 0;   // of the node, when the connection was made
  bool map_wanted_ = false;   // as soon as there is a connection
  Socket socket_;
  SteadyTime made_{};
  std::unique_ptr<ReplyReader> reader_;
  Fifo<AsyncCall*> waiting_;  // for a connection
  std::string out_;
  size_t out_sent_ = 0;
  uint64_t sent_end_ = 0;
  bool blocked_ = false;  // the socket took no more
  Fifo<Slot> slots_;
  // The connection is gone, or could not be made, and these are still to be
  // told, as follows: all in slots_, and those in waiting_ up to a number.
  // Until then none is made anew.
  bool losing_ = false;
  Reason lost_reason_ = Reason::kNone;
  absl::Status lost_status_;
  std::string lost_words_;
  uint64_t waiting_lost_ = 0;
  SteadyTime last_reply_{};
  // Texts that are on their way: script, and the number of its slot.
  std::vector<std::pair<const Script*, uint64_t>> texts_;
  std::vector<char> bytes_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_CHANNEL_H_
