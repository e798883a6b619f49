// An asynchronous call under way. All but its making happens on the thread
// that drives the reactor.
#ifndef WEIR_BACKENDS_REDIS_ASYNC_CALL_H_
#define WEIR_BACKENDS_REDIS_ASYNC_CALL_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "backends/redis/call.h"
#include "backends/redis/course.h"
#include "backends/redis/slot.h"

namespace weir::redis {

class Channel;

struct AsyncCall {
  AsyncCall(OwnedCall c, SteadyTime d, ReplyCallback callback, bool cluster)
      : call(std::move(c)),
        deadline(d),
        done(std::move(callback)),
        course(SlotOfFirst(call.keys, cluster), call.charging) {}

  OwnedCall call;
  SteadyTime deadline;
  ReplyCallback done;
  Course course;
  Node* node = nullptr;  // of the last attempt
  // Where it waits, under a number there: for a connection or for a reply; or
  // in the reactor's line, for its first attempt; or nowhere, while it pauses.
  Channel* channel = nullptr;
  bool in_line = false;
  SteadyTime in_line_since{};
  bool sent = false;
  uint64_t number = 0;
  // In the timer heap, by the time of its deadline or of the end of its pause.
  SteadyTime wake_at{};
  size_t heap_index = 0;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_ASYNC_CALL_H_
