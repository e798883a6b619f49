#include "backends/redis/signal.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

namespace weir::redis {
namespace {

// The steady clock is CLOCK_MONOTONIC, which FUTEX_WAIT_BITSET goes by.
timespec ToTimespec(SteadyTime time) {
  const int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         time.time_since_epoch())
                         .count();
  timespec spec{};
  spec.tv_sec = static_cast<time_t>(ns > 0 ? ns / 1'000'000'000 : 0);
  spec.tv_nsec = ns > 0 ? ns % 1'000'000'000 : 0;
  return spec;
}

}  // namespace

void Signal::Set(Value value) {
  // Release: pairs with the acquire in Get and Wait. After the exchange the
  // word may be anybody's: a wake-up that is not meant for its owner is borne
  // by whoever sleeps on a futex.
  if (value_.exchange(value, std::memory_order_acq_rel) == kAsleep) {
    syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
}

bool Signal::Wait(SteadyTime deadline) {
  uint32_t seen = kNothing;
  value_.compare_exchange_strong(seen, kAsleep, std::memory_order_acquire);
  const timespec until = ToTimespec(deadline);
  while (true) {
    seen = value_.load(std::memory_order_acquire);
    if (seen != kAsleep) return true;
    const long result =
        syscall(SYS_futex, &value_, FUTEX_WAIT_BITSET_PRIVATE, kAsleep, &until,
                nullptr, FUTEX_BITSET_MATCH_ANY);
    if (result != 0 && errno == ETIMEDOUT) {
      seen = kAsleep;
      return !value_.compare_exchange_strong(seen, kNothing,
                                             std::memory_order_acquire);
    }
  }
}

}  // namespace weir::redis
