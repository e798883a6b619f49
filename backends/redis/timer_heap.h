// The calls of a reactor by the time at which they want attention: a binary
// heap whose entries know their place, so that any can be taken out.
#ifndef WEIR_BACKENDS_REDIS_TIMER_HEAP_H_
#define WEIR_BACKENDS_REDIS_TIMER_HEAP_H_

#include <cstddef>
#include <vector>

#include "backends/redis/async_call.h"

namespace weir::redis {

class TimerHeap {
 public:
  bool empty() const { return heap_.empty(); }
  AsyncCall* first() const { return heap_.front(); }

  void Add(AsyncCall* call) {
    call->heap_index = heap_.size();
    heap_.push_back(call);
    Up(call->heap_index);
  }
  void Remove(AsyncCall* call) {
    const size_t at = call->heap_index;
    AsyncCall* const last = heap_.back();
    heap_.pop_back();
    if (last == call) return;
    Put(at, last);
    Up(at);
    Down(last->heap_index);
  }
  // After its wake_at was changed.
  void Update(AsyncCall* call) {
    Up(call->heap_index);
    Down(call->heap_index);
  }

 private:
  void Put(size_t at, AsyncCall* call) {
    heap_[at] = call;
    call->heap_index = at;
  }
  void Up(size_t at) {
    AsyncCall* const call = heap_[at];
    while (at > 0 && call->wake_at < heap_[(at - 1) / 2]->wake_at) {
      Put(at, heap_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    Put(at, call);
  }
  void Down(size_t at) {
    AsyncCall* const call = heap_[at];
    while (true) {
      size_t child = 2 * at + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() &&
          heap_[child + 1]->wake_at < heap_[child]->wake_at) {
        ++child;
      }
      if (heap_[child]->wake_at >= call->wake_at) break;
      Put(at, heap_[child]);
      at = child;
    }
    Put(at, call);
  }

  std::vector<AsyncCall*> heap_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_TIMER_HEAP_H_
