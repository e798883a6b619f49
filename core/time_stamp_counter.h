// The processor's time stamp counter, where it can be trusted: x86-64 with an
// invariant counter (one rate in every state of the processor), which the
// kernel keeps its own time by. The kernel watches whether the counters of the
// cores agree, and goes by another clock where they do not.
#ifndef WEIR_CORE_TIME_STAMP_COUNTER_H_
#define WEIR_CORE_TIME_STAMP_COUNTER_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/calibrated_clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace weir {

// Does this file, in which the kernel names the clock it goes by, say `name`?
// Not if it can't be read.
bool KernelGoesBy(std::string_view name, const std::string& path);

struct TimeStampCounter {
#if defined(__x86_64__)
  static bool Usable() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    // Advanced power management: bit 8 of edx, "invariant TSC".
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0 &&
           KernelGoesBy("tsc",
                        "/sys/devices/system/clocksource/clocksource0/"
                        "current_clocksource");
  }
  static uint64_t Ticks() { return __rdtsc(); }
  static uint64_t OrderedTicks() {
    _mm_lfence();
    const uint64_t ticks = __rdtsc();
    _mm_lfence();
    return ticks;
  }
#else
  static bool Usable() { return false; }
  static uint64_t Ticks() { return 0; }
  static uint64_t OrderedTicks() { return 0; }
#endif
  static int64_t SteadyNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

class FastClock final : public CalibratedClock<TimeStampCounter> {
  using CalibratedClock::CalibratedClock;
};

}  // namespace weir

#endif  // WEIR_CORE_TIME_STAMP_COUNTER_H_
