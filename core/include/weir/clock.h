// A clock: the only place where weir reads the time. Engines are given it.
//
// Most programs never name one: a store makes its own SteadyClock. Tests use a
// ManualClock and move it by hand:
//
//   auto clock = std::make_shared<weir::ManualClock>();
//   auto store = weir::MemoryStore::Create({.clock = clock});   // C++20
//   clock->Advance(std::chrono::seconds(1));
#ifndef WEIR_CLOCK_H_
#define WEIR_CLOCK_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "weir/time.h"

namespace weir {

// Thread safety: Now() is called from every thread that asks for a decision,
// at the same time. The embedded store calls it while it holds locks of its
// own: it must not call the store or a limiter on it, and should not take long.
// The embedded store takes what lies further from 1970 than 2^53 us (the year
// 2255) for that.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() const = 0;

  // Waits until `cv` is notified or Now() may have reached `t`, and can return
  // early; callers loop. `lock` is held before and after. A clock that does
  // not know better returns after a millisecond.
  virtual void WaitUntil(Time t, std::condition_variable& cv,
                         std::unique_lock<std::mutex>& lock) const;
};

class FastClock;

// The system's steady clock, tied once to Unix time when it is made: it reads
// as Unix time, no later step of the system clock moves it, and it never runs
// back. On x86-64 with an invariant time stamp counter, which the kernel goes
// by too, it is read from that counter (about 10 ns) and held to the steady
// clock within 10 us, over any number of hours; where the counter ran on while
// the steady clock stood (a machine that slept) it may be up to 4 ms ahead, for
// a seventh of a second. Elsewhere one Now() is one clock_gettime.
class SteadyClock final : public Clock {
 public:
  SteadyClock();
  ~SteadyClock() override;
  SteadyClock(const SteadyClock&) = delete;
  SteadyClock& operator=(const SteadyClock&) = delete;

  Time Now() const override;
  void WaitUntil(Time t, std::condition_variable& cv,
                 std::unique_lock<std::mutex>& lock) const override;

  // For stores, which read it without a virtual call.
  const FastClock& fast() const { return *fast_; }

 private:
  std::unique_ptr<const FastClock> fast_;
};

// A clock that stands still until it is told to move, in either direction.
// Thread safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start = TimeFromMicros(1'700'000'000'000'000))
      : now_us_(ToMicros(start)) {}
  Time Now() const override { return TimeFromMicros(now_us_.load()); }
  void Set(Time t) { now_us_.store(ToMicros(t)); }
  void Advance(Micros by) { now_us_.fetch_add(by.count()); }

 private:
  std::atomic<int64_t> now_us_;
};

}  // namespace weir

#endif  // WEIR_CLOCK_H_
