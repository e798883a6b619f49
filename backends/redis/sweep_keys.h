// Finds the keys of a namespace, and removes them.
#ifndef WEIR_BACKENDS_REDIS_SWEEP_KEYS_H_
#define WEIR_BACKENDS_REDIS_SWEEP_KEYS_H_

#include <chrono>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/redis/client.h"

namespace weir::redis {

// SCAN to its end on each master, about a thousand keys a call, each call
// within `timeout`. Returns how many keys were found; those are removed, or
// else the first that is found ends it. Keys that move from node to node at
// the same time may be missed.
absl::StatusOr<int64_t> SweepKeys(Client* client, std::string_view name_space,
                                  bool remove,
                                  std::chrono::microseconds timeout);

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_SWEEP_KEYS_H_
