#include "weir/clock.h"

#include <chrono>

namespace weir {
namespace {

template <class Clock>
int64_t MicrosOf() {
  return std::chrono::duration_cast<Micros>(Clock::now().time_since_epoch())
      .count();
}

}  // namespace

void Clock::WaitUntil(Time, std::condition_variable& cv,
                      std::unique_lock<std::mutex>& lock) const {
  cv.wait_for(lock, std::chrono::milliseconds(1));
}

SteadyClock::SteadyClock()
    : offset_us_(MicrosOf<std::chrono::system_clock>() -
                 MicrosOf<std::chrono::steady_clock>()) {}

Time SteadyClock::Now() const {
  return TimeFromMicros(MicrosOf<std::chrono::steady_clock>() + offset_us_);
}

void SteadyClock::WaitUntil(Time t, std::condition_variable& cv,
                            std::unique_lock<std::mutex>& lock) const {
  cv.wait_for(lock, t - Now());
}

}  // namespace weir
