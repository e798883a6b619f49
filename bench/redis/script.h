// The script that everybody runs: one reading of the time, one GET, one SET
// with an expiry, one integer back, which is the least that a limiter does.
#ifndef WEIR_BENCH_REDIS_SCRIPT_H_
#define WEIR_BENCH_REDIS_SCRIPT_H_

#include <string>

#include "backends/redis/call.h"

namespace weir::bench {

inline constexpr int kKeys = 100'000;

// Loads it into the server. Empty sha1: nobody answers on that port.
redis::Script LoadScript(int port);
// The same of another text, which is kept for good.
redis::Script LoadText(int port, const std::string& text);

// The n-th of the keys, in no order; made before the first run.
const std::string& KeyOf(uint64_t n);

}  // namespace weir::bench

#endif  // WEIR_BENCH_REDIS_SCRIPT_H_
