// Where one thread sleeps until another tells it something: one word.
#ifndef WEIR_BACKENDS_REDIS_SIGNAL_H_
#define WEIR_BACKENDS_REDIS_SIGNAL_H_

#include <atomic>
#include <cstdint>

#include "backends/redis/call.h"

namespace weir::redis {

class Signal {
 public:
  enum Value : uint32_t { kNothing, kAsleep, kLead, kDone };

  // Acquire: sees what the setter wrote before Set.
  Value Get() const {
    return static_cast<Value>(value_.load(std::memory_order_acquire));
  }
  // Any thread. Costs a system call only if the owner is asleep. The owner may
  // be gone before Set returns.
  void Set(Value value);
  // The owner. True: told something, kLead or kDone.
  bool Wait(SteadyTime deadline);
  void Clear() { value_.store(kNothing, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> value_{kNothing};
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_SIGNAL_H_
