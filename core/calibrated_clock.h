// A clock made of a counter that is cheap to read (the processor's time stamp
// counter) and the system's steady clock, which it is held to.
//
// A reading is the counter, one multiplication and an addition. Between two
// calibrations the counter is followed for at most kSpanUs; a reading that
// comes later calibrates first, so that whatever happened in between (a rate
// that is off, a machine that slept) is seen before a time is given. There is
// no thread: calls calibrate, and only one at a time.
//
// Bound: a reading differs from the steady clock by at most 1 us, plus kSpanUs
// times the relative change of the counter's rate within that span (5 us for
// 1000 ppm). It never runs back: where it is found to be ahead it goes slower
// until it is not. Readings of several threads agree as far as their counters
// do (an invariant counter is one clock for all cores).
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
#include <atomic>
#include <cstdint>
#include <mutex>

#include "core/math.h"

namespace weir {

template <class Source>
class CalibratedClock {
 public:
  static constexpr int64_t kSpanUs = 4'000;
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

  template <class Ticks>
  __attribute__((always_inline)) int64_t Read(Ticks ticks_now) const {
    if (!usable_) return Source::SteadyNs() / 1000 + offset_us_;
    for (;;) {
      // A sequence lock. acquire, four times: no load moves up before the one
      // above it, so if `version_` is the same at the end (relaxed will do:
      // nothing is left below that could move up), all are of one calibration.
      // They pair with the release stores in Publish.
      const uint32_t version = version_.load(std::memory_order_acquire);
      const uint64_t base = base_ticks_.load(std::memory_order_acquire);
      const uint64_t rate = rate_.load(std::memory_order_acquire);
      const uint64_t soon = soon_.load(std::memory_order_acquire);
      const int64_t us = base_us_.load(std::memory_order_acquire);
      const uint64_t elapsed = ticks_now() - base;
      const bool whole = (version & 1) == 0 &&
                         version_.load(std::memory_order_relaxed) == version;
      if (__builtin_expect(elapsed < soon && whole, 1)) {
        return us + Scale(elapsed, rate);
      }
      if (int64_t t; Calibrate(&t)) return t;
    }
  }

  static int64_t Scale(uint64_t ticks, uint64_t rate) {
    return static_cast<int64_t>((Product{ticks} * rate) >> 64);
  }

  // Takes a new pair of readings, and a new base. True: `*t` is a reading.
  // False: it can be read the quick way now.
  __attribute__((noinline)) bool Calibrate(int64_t* t) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    // relaxed: only holders of the mutex write these.
    const uint64_t rate = rate_.load(std::memory_order_relaxed);
    const uint64_t soon = soon_.load(std::memory_order_relaxed);
    const uint64_t base = base_ticks_.load(std::memory_order_relaxed);
    if (rate != 0 && Source::OrderedTicks() - base < soon) {
      return false;  // another call has just done it
    }
    // Nobody reads by the old calibration from here on: seq_cst, a full
    // barrier, so that the counter is read after the odd version is there. A
    // reading that was taken before is not later than this pair.
    version_.exchange(version_.load(std::memory_order_relaxed) + 1,
                      std::memory_order_seq_cst);
    const Pair now = TakePair();
    const uint64_t elapsed = now.ticks - base;
    const int64_t steady_us = now.ns / 1000 + offset_us_;
    if (rate != 0) {
      // What the last base could have given at most.
      floor_us_ = std::max(floor_us_, base_us_.load(std::memory_order_relaxed) +
                                          Scale(std::min(elapsed, soon), rate));
    }
    floor_us_ = std::max(floor_us_, steady_us);
    const uint64_t measured = Measure(now);
    if (measured == 0 || !Alike(measured, rate)) {
      // Not known yet, or no longer what it was: begin again.
      if (rate != 0 || oldest_.ns == 0) oldest_ = middle_ = now;
      Publish(0, 0, 0, 0);
      *t = floor_us_;
      return true;
    }
    if (now.ns - middle_.ns > kWindowNs) {
      oldest_ = middle_;
      middle_ = now;
    }
    Publish(now.ticks, floor_us_, Slowed(measured, floor_us_ - steady_us),
            static_cast<uint64_t>((Product{kSpanUs} << 64) / measured));
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

  // Ends what the odd version began.
  void Publish(uint64_t ticks, int64_t us, uint64_t rate, uint64_t soon) const {
    // release: whoever reads one of these sees the odd version, or a later
    // one. Pairs with the acquire loads in Read.
    base_ticks_.store(ticks, std::memory_order_release);
    rate_.store(rate, std::memory_order_release);
    soon_.store(soon, std::memory_order_release);
    base_us_.store(us, std::memory_order_release);
    version_.store(version_.load(std::memory_order_relaxed) + 1,
                   std::memory_order_release);
  }

  const bool usable_;
  const int64_t offset_us_;
  alignas(64) mutable std::atomic<uint32_t> version_{0};
  mutable std::atomic<uint64_t> base_ticks_{0};
  mutable std::atomic<uint64_t> rate_{0};  // us a tick, times 2^64; 0: unknown
  mutable std::atomic<uint64_t> soon_{0};  // ticks from the base to the next
  mutable std::atomic<int64_t> base_us_{0};
  alignas(64) mutable std::mutex mutex_;  // guards what follows
  mutable Pair oldest_;                   // the rate is measured from here
  mutable Pair middle_;                   // and from here a second later
  mutable int64_t floor_us_ = INT64_MIN;  // no reading has been later
};

}  // namespace weir

#endif  // WEIR_CORE_CALIBRATED_CLOCK_H_
