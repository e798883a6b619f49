// The lock of a stripe: one byte, 2 to 3 ns to take and give back where nobody
// else wants it. What it guards is held for tens of nanoseconds; whoever waits
// longer than a while yields its processor to the holder, and then sleeps.
#ifndef WEIR_BACKENDS_MEMORY_SPIN_LOCK_H_
#define WEIR_BACKENDS_MEMORY_SPIN_LOCK_H_

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "absl/base/thread_annotations.h"

namespace weir {

// A step of a loop that waits for another thread: longer each time, so that who
// waits seldom takes the line of memory away from who works on it. After that
// who is waited for has lost its processor, perhaps to this very thread: so it
// yields, which serves threads of its own rank, and in the end it sleeps, which
// serves all of them.
class Patience {
 public:
  void Wait() {
    if (spent_ < kMost) {
      for (int i = 0; i < next_; ++i) Pause();
      spent_ += next_;
      next_ = std::min(2 * next_, kLongest);
    } else if (yields_ < kYields) {
      ++yields_;
      sched_yield();
    } else {
      const timespec nap = {0, kNapNs};
      nanosleep(&nap, nullptr);
    }
  }

 private:
  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  static constexpr int kLongest = 32;  // pauses of 5 to 50 ns
  static constexpr int kMost = 512;
  static constexpr int kYields = 8;
  static constexpr long kNapNs = 20'000;
  int next_ = 1;
  int spent_ = 0;
  int yields_ = 0;
};

class ABSL_LOCKABLE SpinLock {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    if (__builtin_expect(!Take(), 0)) Wait();
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    // release: pairs with the acquire in Take.
    held_.store(false, std::memory_order_release);
  }
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) { return Take(); }

 private:
  // acquire: what the last holder wrote before its release is seen.
  bool Take() { return !held_.exchange(true, std::memory_order_acquire); }

  __attribute__((noinline)) void Wait() {
    do {
      // relaxed: only a hint that it is worth trying.
      for (Patience patience; held_.load(std::memory_order_relaxed);) {
        patience.Wait();
      }
    } while (!Take());
  }

  std::atomic<bool> held_{false};
};

class ABSL_SCOPED_LOCKABLE SpinLockHolder {
 public:
  explicit SpinLockHolder(SpinLock* lock) ABSL_EXCLUSIVE_LOCK_FUNCTION(lock)
      : lock_(lock) {
    lock_->Lock();
  }
  ~SpinLockHolder() ABSL_UNLOCK_FUNCTION() { lock_->Unlock(); }
  SpinLockHolder(const SpinLockHolder&) = delete;
  SpinLockHolder& operator=(const SpinLockHolder&) = delete;

 private:
  SpinLock* const lock_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_SPIN_LOCK_H_
