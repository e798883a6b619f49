// Commands that one caller sends together on one connection, and waits for.
#ifndef WEIR_BACKENDS_REDIS_BATCH_H_
#define WEIR_BACKENDS_REDIS_BATCH_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "backends/redis/call.h"
#include "backends/redis/errors.h"
#include "backends/redis/signal.h"

namespace weir::redis {

// One command and where its reply goes.
struct Ticket {
  Reply* reply = nullptr;  // null: it is read and dropped
  size_t reply_bytes = 0;  // as in ScriptCall
  size_t calls = 1;        // that share it
  Reason failed = Reason::kNone;
  bool answered = false;
  // Not answered: it may have been run all the same.
  bool may_have_run = false;
};

class SharedStream;

// Made, sent and waited for by one thread. Bytes and tickets go together: a
// ticket for each command.
class Batch {
 public:
  // Call after the command's bytes were appended.
  void AddTicket(Reply* reply, size_t reply_bytes, size_t calls = 1) {
    Ticket ticket;
    ticket.reply = reply;
    ticket.reply_bytes = reply_bytes;
    ticket.calls = calls;
    tickets.push_back(ticket);
    ends.push_back(bytes.size());
  }

  std::string bytes;
  absl::InlinedVector<Ticket, 4> tickets;
  // Where each command ends in `bytes`.
  absl::InlinedVector<size_t, 4> ends;
  // What went wrong, in words, if any ticket failed.
  std::string words;
  // The same in full, if the batch was not sent at all.
  absl::Status status;

 private:
  friend class SharedStream;
  // All but the signal: under the stream's lock.
  uint64_t first_ = 0;    // number of its first slot
  size_t left_ = 0;       // tickets neither answered nor failed
  bool waiting_ = false;  // its owner may be given the reader's part
  Signal signal_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_BATCH_H_
