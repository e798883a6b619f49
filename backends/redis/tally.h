// The counters as calls write them: relaxed, since nothing is ordered by them.
#ifndef WEIR_BACKENDS_REDIS_TALLY_H_
#define WEIR_BACKENDS_REDIS_TALLY_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "backends/redis/counters.h"

namespace weir::redis {

class Count {
 public:
  void Add(int64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  int64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

struct Tally {
  Count calls, sends, receives, connects, closes, evals, late_replies,
      map_refreshes, probes;
  std::array<Count, kReasonCount> met;

  void Met(Reason reason) { met[static_cast<size_t>(reason)].Add(); }

  Counters Read() const {
    Counters c;
    c.calls = calls.Get();
    c.sends = sends.Get();
    c.receives = receives.Get();
    c.connects = connects.Get();
    c.closes = closes.Get();
    c.evals = evals.Get();
    c.late_replies = late_replies.Get();
    c.map_refreshes = map_refreshes.Get();
    c.probes = probes.Get();
    for (size_t i = 0; i < met.size(); ++i) c.met[i] = met[i].Get();
    return c;
  }
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_TALLY_H_
