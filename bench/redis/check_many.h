// What a user gets of Limiter::CheckMany, and the script that it runs.
#ifndef WEIR_BENCH_REDIS_CHECK_MANY_H_
#define WEIR_BENCH_REDIS_CHECK_MANY_H_

#include "bench/redis/runs.h"
#include "weir/limit.h"

namespace weir::bench {

// A limiter with this one rule on the target's server; one caller, checks of so
// many keys at once, by the server's time.
Speed RunCheckMany(const Target& target, const Limit& limit, int keys);

// The target with the script that a check of one key of that limiter runs, for
// redis-benchmark. The script's arguments stand in its text, since they hold
// bytes that no command line passes. Empty sha1: nobody answers on that port.
Target OneKeyScript(Target target, const Limit& limit);

}  // namespace weir::bench

#endif  // WEIR_BENCH_REDIS_CHECK_MANY_H_
