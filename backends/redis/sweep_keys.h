// Finds keys by a pattern on one server, and removes them.
#ifndef WEIR_BACKENDS_REDIS_SWEEP_KEYS_H_
#define WEIR_BACKENDS_REDIS_SWEEP_KEYS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "backends/redis/client.h"

namespace weir::redis {

// SCAN to its end, about a thousand keys a call, each call within `timeout`.
// Returns how many keys matched; those are removed, or else the first that is
// found ends it.
absl::StatusOr<int64_t> SweepKeys(Client* client, const std::string& pattern,
                                  bool remove,
                                  std::chrono::microseconds timeout);

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_SWEEP_KEYS_H_
