#include "weir/clock.h"

#include <chrono>
#include <fstream>
#include <string>

#include "core/time_stamp_counter.h"

namespace weir {
namespace {

template <class Clock>
int64_t MicrosOf() {
  return std::chrono::duration_cast<Micros>(Clock::now().time_since_epoch())
      .count();
}

}  // namespace

bool KernelGoesBy(std::string_view name, const std::string& path) {
  std::ifstream file(path);
  std::string word;
  return file >> word && word == name;
}

void Clock::WaitUntil(Time, std::condition_variable& cv,
                      std::unique_lock<std::mutex>& lock) const {
  cv.wait_for(lock, std::chrono::milliseconds(1));
}

SteadyClock::SteadyClock()
    : fast_(
          std::make_unique<FastClock>(MicrosOf<std::chrono::system_clock>() -
                                      MicrosOf<std::chrono::steady_clock>())) {}
SteadyClock::~SteadyClock() = default;

Time SteadyClock::Now() const { return TimeFromMicros(fast_->Now()); }

void SteadyClock::WaitUntil(Time t, std::condition_variable& cv,
                            std::unique_lock<std::mutex>& lock) const {
  cv.wait_for(lock, t - Now());
}

}  // namespace weir
