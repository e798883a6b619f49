// A clock made of a counter that is cheap to read (the processor's time stamp
// counter) and the system's steady clock, which it is held to.
//
// A reading is the counter, one multiplication and an addition. Between two
// calibrations the counter is followed for at most kSpanUs; a reading that
// comes later calibrates first, so that whatever happened in between (a rate
// that is off, a machine that slept) is seen before a time is given. There is
// no thread, and nobody waits: one call calibrates, and those that come
// meanwhile read the end of the last span or, where that is later, the steady
// clock less kMarginUs.
//
// Bound: a reading differs from the steady clock by at most 1 us, plus kSpanUs
// times the relative change of the counter's rate within that span (4 us for
// 1000 ppm), plus what the counters of the cores differ by. Where the machine
// slept, or the counter ran on while the steady clock did not, it can be ahead
// by kSpanUs. It never runs back: where it is found to be ahead it goes slower
// until it is not. Readings of several threads agree as far as their counters
// do (an invariant counter is one clock for all cores): a counter that is up to
// kBehindUs behind that of the last calibration reads as that calibration's
// time. One that is further behind was set back; where that happens
// kMostSetBack times it is not believed again, and the clock is the steady
// clock.
//
// Source gives
//   static bool Usable()              the counter runs at one rate, everywhere
//   static uint64_t Ticks()           the counter; may be read early
//   static uint64_t OrderedTicks()    after what stands before it, and before
//                                     what stands after it
//   static int64_t SteadyNs()         the system's steady clock
//
// Thread safe. A reading costs about 10 ns on x86-64.
#ifndef WEIR_CORE_CALIBRATED_CLOCK_H_
#define WEIR_CORE_CALIBRATED_CLOCK_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "core/math.h"

namespace weir {

template <class Source>
class CalibratedClock {
 public:
  static constexpr int64_t kSpanUs = 4'000;
  static constexpr int64_t kBehindUs = kSpanUs / 4;
  static constexpr int64_t kMarginUs = 8;
  static constexpr int kMostSetBack = 8;
  static constexpr int64_t kSettleNs = 1'000'000;
  static constexpr int64_t kWindowNs = 1'000'000'000;

  // Readings are the steady clock's plus `offset_us`.
  explicit CalibratedClock(int64_t offset_us)
      : usable_(Source::Usable()), offset_us_(offset_us) {}

  // Microseconds. May be taken a little before loads that stand before it are
  // done: for decisions, which bear a reading that is a little early.
  __attribute__((always_inline)) int64_t Early() const {
    return Read([] { return Source::Ticks(); });
  }

  // As Early, if that takes no detour: in between calibrations. False where the
  // counter can't be used, which then is never calibrated.
  __attribute__((always_inline)) bool TryEarly(int64_t* t) const {
    const Look look = LookAt([] { return Source::Ticks(); });
    *t = look.us;
    return look.within();
  }

  // Microseconds. What another thread read before this call began is not later.
  int64_t Now() const {
    return Read([] { return Source::OrderedTicks(); });
  }

 private:
  __extension__ typedef unsigned __int128 Product;

  struct Pair {
    uint64_t ticks = 0;
    int64_t ns = 0;
  };

  // What the counter is read by, until the next calibration.
  struct Calibration {
    uint64_t base = 0;  // ticks
    uint64_t rate = 0;  // us a tick, times 2^64; 0: not known
    uint64_t soon = 0;  // ticks from the base to the end of the span
    int64_t us = 0;     // the time at the base

    // No reading by this calibration is later.
    int64_t End() const { return us + Scale(soon, rate); }
  };

  // Of the two the one that is not current is written, so that a reader never
  // waits for a writer.
  struct Shared {
    std::atomic<uint64_t> base{0};
    std::atomic<uint64_t> rate{0};
    std::atomic<uint64_t> soon{0};
    std::atomic<int64_t> us{0};
  };

  // One look at the counter by the current calibration.
  struct Look {
    uint32_t current;
    int64_t us;
    bool in_span;
    bool whole;

    // What was read is of that calibration, and holds: `us` is a reading. Two
    // branches, which cost less than what would make one of them.
    __attribute__((always_inline)) bool within() const {
      if (__builtin_expect(!in_span, 0)) return false;
      return __builtin_expect(whole, 1);
    }
  };
  template <class Ticks>
  __attribute__((always_inline)) Look LookAt(Ticks ticks_now) const {
    // A sequence lock over two places. acquire, five times: no load moves up
    // before the one above it, so if `current_` is the same at the end
    // (relaxed will do: nothing is left below that could move up), all are of
    // one calibration. They pair with the release stores in Publish: who
    // reads a word of the calibration after the next also sees that the next
    // was there. The counter goes first: on some processors it waits for the
    // loads before it.
    const uint64_t ticks = ticks_now();
    const uint32_t current = current_.load(std::memory_order_acquire);
    const Shared& shared = shared_[current & 1];
    const uint64_t base = shared.base.load(std::memory_order_acquire);
    const uint64_t rate = shared.rate.load(std::memory_order_acquire);
    const uint64_t soon = shared.soon.load(std::memory_order_acquire);
    const int64_t us = shared.us.load(std::memory_order_acquire);
    const uint64_t elapsed = ticks - base;
    const bool whole = current_.load(std::memory_order_relaxed) == current;
    return {current, us + Scale(elapsed, rate), elapsed < soon, whole};
  }

  template <class Ticks>
  __attribute__((always_inline)) int64_t Read(Ticks ticks_now) const {
    for (;;) {
      const Look look = LookAt(ticks_now);
      if (__builtin_expect(look.within(), 1)) return look.us;
      if (int64_t t; ReadSlowly(look.current, &t)) return t;
    }
  }

  static int64_t Scale(uint64_t ticks, uint64_t rate) {
    return static_cast<int64_t>((Product{ticks} * rate) >> 64);
  }

  int64_t SteadyUs() const { return Source::SteadyNs() / 1000 + offset_us_; }

  // No reading is earlier than `t` from here on. relaxed: all that is asked of
  // the floor is that it does not fall.
  int64_t RaiseFloor(int64_t t) const {
    int64_t floor = floor_us_.load(std::memory_order_relaxed);
    while (floor < t && !floor_us_.compare_exchange_weak(
                            floor, t, std::memory_order_relaxed)) {
    }
    return std::max(floor, t);
  }

  // While the rate is not known. 1 us less than the steady clock, since the
  // first span may be short of it by a part of that.
  int64_t ReadFloor() const { return RaiseFloor(SteadyUs() - 1); }

  // The counter was read outside the span of the `current`th calibration, or so
  // long ago that this is another one. True: `*t` is a reading. False: it can
  // be read the quick way now.
  __attribute__((noinline)) bool ReadSlowly(uint32_t current,
                                            int64_t* t) const {
    // No calibration ever holds.
    if (!usable_) {
      *t = SteadyUs();
      return true;
    }
    const Shared& shared = shared_[current & 1];
    // As in LookAt.
    Calibration c;
    c.base = shared.base.load(std::memory_order_acquire);
    c.rate = shared.rate.load(std::memory_order_acquire);
    c.soon = shared.soon.load(std::memory_order_acquire);
    c.us = shared.us.load(std::memory_order_acquire);
    if (current_.load(std::memory_order_relaxed) != current) return false;
    const uint64_t elapsed = Source::OrderedTicks() - c.base;
    if (elapsed < c.soon) return false;
    if (c.rate != 0 && 0 - elapsed <= c.soon / (kSpanUs / kBehindUs)) {
      *t = c.us;  // of a core whose counter is a little behind
      return true;
    }
    // relaxed: the floor stands still by then, and is seen or is not needed.
    if (given_up_.load(std::memory_order_relaxed)) {
      *t = std::max(floor_us_.load(std::memory_order_relaxed), SteadyUs());
      return true;
    }
    // Who comes meanwhile does not wait: callers may hold a lock of their own.
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) {
      *t =
          c.rate == 0 ? ReadFloor() : std::max(c.End(), SteadyUs() - kMarginUs);
      return true;
    }
    // relaxed: only holders of the mutex write these two.
    if (current_.load(std::memory_order_relaxed) != current ||
        given_up_.load(std::memory_order_relaxed)) {
      return false;
    }
    return Calibrate(c, elapsed, t);
  }

  // Takes a new pair of readings, and a new base. The mutex is held. Answers
  // like ReadSlowly.
  bool Calibrate(const Calibration& old, uint64_t elapsed, int64_t* t) const {
    const Pair now = TakePair();
    const int64_t steady_us = now.ns / 1000 + offset_us_;
    const int64_t floor =
        RaiseFloor(old.rate == 0 ? steady_us : std::max(old.End(), steady_us));
    const bool was_set_back = old.rate != 0 && elapsed >> 63 != 0;
    if (was_set_back && ++set_backs_ == kMostSetBack) {
      Publish({});
      given_up_.store(true, std::memory_order_relaxed);
      *t = floor;
      return true;
    }
    const uint64_t measured = Measure(now);
    if (measured == 0 || !Alike(measured, old.rate)) {
      // Not known yet, or no longer what it was: begin again.
      if (old.rate != 0 || oldest_.ns == 0) oldest_ = middle_ = now;
      if (old.rate != 0) Publish({});
      *t = ReadFloor();
      return true;
    }
    if (now.ns - middle_.ns > kWindowNs) {
      oldest_ = middle_;
      middle_ = now;
    }
    Publish({now.ticks, Slowed(measured, floor - steady_us),
             static_cast<uint64_t>((Product{kSpanUs} << 64) / measured),
             floor});
    return false;
  }

  // Microseconds a tick, times 2^64; 0 if not known.
  uint64_t Measure(const Pair& now) const {
    const int64_t ns = now.ns - oldest_.ns;
    const uint64_t ticks = now.ticks - oldest_.ticks;
    if (oldest_.ns == 0 || ns < kSettleNs) return 0;
    // A counter under 1 MHz, or one that was set back.
    if (ticks <= static_cast<uint64_t>(ns) / 1000 || ticks >> 62 != 0) return 0;
    // Rounded up, so that whole microseconds come out whole.
    const Product one = Product{static_cast<uint64_t>(ns)} << 64;
    return static_cast<uint64_t>(one / 1000 / ticks) + 1;
  }

  // Within 1/16.
  static bool Alike(uint64_t measured, uint64_t rate) {
    if (rate == 0) return true;
    const uint64_t apart = measured > rate ? measured - rate : rate - measured;
    return apart <= rate / 16;
  }

  // Ahead by so many us: the lead is gone after a span, at the latest after
  // more of them at half the rate.
  static uint64_t Slowed(uint64_t rate, int64_t ahead) {
    const int64_t give = std::min<int64_t>(ahead, kSpanUs / 32);
    return rate - static_cast<uint64_t>(Product{rate} *
                                        static_cast<uint64_t>(give) / kSpanUs);
  }

  // The counter beside the clock; the closest of a few tries, since a thread
  // may be stopped in between.
  static Pair TakePair() {
    Pair best;
    uint64_t closest = UINT64_MAX;
    for (int i = 0; i < 3; ++i) {
      const uint64_t before = Source::OrderedTicks();
      const int64_t ns = Source::SteadyNs();
      const uint64_t after = Source::OrderedTicks();
      if (after - before < closest) {
        closest = after - before;
        best = {before + (after - before) / 2, ns};
      }
    }
    return best;
  }

  void Publish(const Calibration& c) const {
    // relaxed: only holders of the mutex write it.
    const uint32_t next = current_.load(std::memory_order_relaxed) + 1;
    Shared& shared = shared_[next & 1];
    // release: whoever reads one of these sees the last current one, or a later
    // one; whoever sees this one as current reads all of these. Pairs with the
    // acquire loads in LookAt and ReadSlowly.
    shared.base.store(c.base, std::memory_order_release);
    shared.rate.store(c.rate, std::memory_order_release);
    shared.soon.store(c.soon, std::memory_order_release);
    shared.us.store(c.us, std::memory_order_release);
    current_.store(next, std::memory_order_release);
  }

  const bool usable_;
  const int64_t offset_us_;
  alignas(64) mutable std::array<Shared, 2> shared_;
  mutable std::atomic<uint32_t> current_{0};
  alignas(64) mutable std::atomic<int64_t> floor_us_{INT64_MIN};
  mutable std::atomic<bool> given_up_{false};
  mutable std::mutex mutex_;   // guards what follows, and Publish
  mutable Pair oldest_;        // the rate is measured from here
  mutable Pair middle_;        // and from here a second later
  mutable int set_backs_ = 0;  // so often was the counter set back
};

}  // namespace weir

#endif  // WEIR_CORE_CALIBRATED_CLOCK_H_
