#include "backends/redis/breaker.h"

#include <algorithm>

#include "backends/redis/errors.h"

namespace weir::redis {

using std::chrono::microseconds;

namespace {

// A probe that takes longer is not waited for: its connection may be dead, and
// the server long back.
constexpr std::chrono::seconds kLongestProbe(1);

}  // namespace

Breaker::Breaker(const ClientOptions& options, uint64_t seed)
    : limit_(options.breaker_failures),
      min_interval_(options.min_retry_interval),
      max_interval_(options.max_retry_interval),
      interval_(options.min_retry_interval),
      random_(seed | 1) {}

Breaker::Verdict Breaker::Ask(SteadyTime now, SteadyTime deadline) {
  if (!is_open()) return Verdict::kGo;
  const int64_t ticks = now.time_since_epoch().count();
  if (ticks < next_probe_.load(std::memory_order_relaxed)) return Verdict::kNo;
  MutexLock lock(&mutex_);
  if (!is_open()) return Verdict::kGo;
  if (ticks < next_probe_.load(std::memory_order_relaxed)) return Verdict::kNo;
  interval_ = std::min(interval_ * 2, max_interval_);
  Schedule(now, std::min(deadline, now + kLongestProbe));
  return Verdict::kProbe;
}

void Breaker::Fail(SteadyTime now, const absl::Status& why) {
  MutexLock lock(&mutex_);
  why_ = Detached(why);
  const int failures = failures_.load(std::memory_order_relaxed) + 1;
  if (failures == limit_) interval_ = min_interval_;
  // Also by the probe that failed: what follows one that took long is as quiet
  // as what follows a quick one.
  if (failures >= limit_) Schedule(now, now);
  failures_.store(std::min(failures, limit_), std::memory_order_relaxed);
}

void Breaker::Close() {
  MutexLock lock(&mutex_);
  failures_.store(0, std::memory_order_relaxed);
}

absl::Status Breaker::Why() const {
  MutexLock lock(&mutex_);
  return Detached(why_);
}

void Breaker::Schedule(SteadyTime now, SteadyTime after) {
  // xorshift64: what is drawn need not be hard to guess.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const auto half = static_cast<uint64_t>(interval_.count()) / 2;
  const microseconds wait(static_cast<int64_t>(half + random_ % (half + 1)));
  const SteadyTime next = std::max<SteadyTime>(now + wait, after);
  next_probe_.store(next.time_since_epoch().count(), std::memory_order_relaxed);
}

}  // namespace weir::redis
