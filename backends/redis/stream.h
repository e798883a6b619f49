// One ready connection, shared by the threads that block on it.
//
// Commands of all callers go out in one order, and the replies come back in
// it. There are two parts to play, each by one thread at a time: the writer
// sends what has been queued, also what others queue meanwhile; the reader
// polls, reads and hands out replies. A caller takes a part that it finds free;
// so a lone caller does all by itself, and with many a thread that waits does
// it for the others, one direction beside the other. A reader that has its own
// replies passes its part on to somebody who still waits. What a writer leaves
// that has no time to send it all is sent by the reader, as the socket takes
// it.
//
// A caller whose deadline passes leaves; its slots stay in the order, and their
// late replies are read and dropped. A stream that has failed is never mended:
// everybody is told, and it is closed when the last caller lets go of it.
#ifndef WEIR_BACKENDS_REDIS_STREAM_H_
#define WEIR_BACKENDS_REDIS_STREAM_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "backends/redis/batch.h"
#include "backends/redis/fifo.h"
#include "backends/redis/options.h"
#include "backends/redis/resp.h"
#include "backends/redis/socket.h"
#include "backends/redis/tally.h"
#include "core/mutex.h"

namespace weir::redis {

class SharedStream {
 public:
  // `options` and `tally` outlive it.
  SharedStream(Socket socket, const ClientOptions& options, Tally* tally);
  ~SharedStream() = default;

  // Queues the batch and sees to it that it is sent. After false nothing was
  // queued: every ticket has failed, and surely was not run.
  bool Start(Batch* batch, SteadyTime now, SteadyTime deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Until every ticket of a started batch is answered or has failed. At the
  // deadline those that are left fail with kTimeout.
  void Wait(Batch* batch, SteadyTime deadline) ABSL_LOCKS_EXCLUDED(mutex_);

  // It failed, and takes no more.
  bool broken() const { return broken_.load(std::memory_order_acquire); }
  SteadyTime made() const { return made_; }
  // Slots that wait for a reply: how busy it is.
  size_t load() const { return load_.load(std::memory_order_relaxed); }
  // How long the server has owed us a reply without sending anything.
  std::chrono::microseconds Silence(SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Slot {
    Batch* batch = nullptr;  // null: its caller has left
    uint64_t end = 0;        // bytes queued up to the end of the command
    SteadyTime since{};
  };

  bool Refuse(Batch* batch, Reason reason, std::string words)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A reason, and its words, if nothing more may be sent on it.
  Reason CheckBefore(SteadyTime now, std::string* words)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The writer's part.
  void Write(SteadyTime deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Somebody had the part, and left something to send.
  bool HasRest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteRest() ABSL_LOCKS_EXCLUDED(mutex_);
  // False: there is nothing, and the part is given up.
  bool TakeQueued() ABSL_LOCKS_EXCLUDED(mutex_);
  bool SendAll(SteadyTime deadline) ABSL_LOCKS_EXCLUDED(mutex_);

  // The reader's part: until the batch is done or the deadline has passed.
  void Read(Batch* batch, SteadyTime deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for bytes; false: there are none yet, and the deadline has passed, or
  // the oldest call is too old.
  bool AwaitBytes(SteadyTime deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Reads what there is. False: the stream is at its end.
  bool ReadSome(Reason* reason, std::string* words);
  // Hands out the replies that were read. True: the reader's own batch is done,
  // and the part has been passed on.
  bool HandOut(Batch* own) ABSL_LOCKS_EXCLUDED(mutex_);
  void PassOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The deadline of the reader's own batch, or of the oldest call; and what to
  // poll for.
  SteadyTime NextDeadline(SteadyTime deadline, short* events)
      ABSL_LOCKS_EXCLUDED(mutex_);

  void Leave(Batch* batch) ABSL_LOCKS_EXCLUDED(mutex_);
  // Marks it broken and wakes the reader. Somebody must fail the slots after.
  void Break(Reason reason, std::string words)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The reader: fails every slot.
  void FailAll(Batch* own) ABSL_LOCKS_EXCLUDED(mutex_);
  void FailTicket(Batch* batch, size_t index, uint64_t end, Reason reason)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ClientOptions& options_;
  Tally* const tally_;
  const SteadyTime made_;
  Socket socket_;
  std::atomic<bool> broken_{false};
  std::atomic<size_t> load_{0};
  // No byte beyond this was sent. Release by the writer, before it sends;
  // acquire by whoever judges what may have been run, after the socket was shut
  // down, so that what is sent later does not go out.
  std::atomic<uint64_t> sent_{0};

  Mutex mutex_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  std::string queued_ ABSL_GUARDED_BY(mutex_);
  uint64_t queued_end_ ABSL_GUARDED_BY(mutex_) = 0;
  Fifo<Slot> slots_ ABSL_GUARDED_BY(mutex_);
  SteadyTime last_reply_ ABSL_GUARDED_BY(mutex_);
  Reason why_broken_ ABSL_GUARDED_BY(mutex_) = Reason::kNone;
  std::string broken_words_ ABSL_GUARDED_BY(mutex_);

  // Whoever has the writer's part; or, while nobody has, under the lock.
  std::string sending_;
  size_t taken_ = 0;      // of it, by the socket
  uint64_t written_ = 0;  // bytes that the socket has taken
  // Whoever has the reader's part.
  ReplyReader reader_;
  std::vector<Reply> replies_;
  size_t reply_count_ = 0;
  std::vector<char> bytes_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_STREAM_H_
