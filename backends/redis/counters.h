// What a client has counted since it was made.
#ifndef WEIR_BACKENDS_REDIS_COUNTERS_H_
#define WEIR_BACKENDS_REDIS_COUNTERS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include "backends/redis/errors.h"

namespace weir::redis {

struct Counters {
  int64_t calls = 0;         // asked for, also those that were not sent
  int64_t sends = 0;         // system calls that wrote
  int64_t receives = 0;      // system calls that read
  int64_t connects = 0;      // connections made ready
  int64_t closes = 0;        // connections closed because of an error
  int64_t evals = 0;         // texts sent, because the server lacked them
  int64_t late_replies = 0;  // read and dropped: their caller had left
  int64_t map_refreshes = 0;
  int64_t probes = 0;  // calls let through by an open breaker
  // Error replies and failures by reason, each time one was met: a call that
  // then succeeds counts its MOVED here too.
  std::array<int64_t, kReasonCount> met{};

  int64_t Met(Reason reason) const { return met[static_cast<int>(reason)]; }
  // Every counter with its name, in a fixed order.
  void ForEach(const std::function<void(std::string_view name, int64_t value)>&
                   visit) const;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_COUNTERS_H_
