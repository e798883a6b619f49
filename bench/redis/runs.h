// The ways of running the script. Each makes calls for about as long as it is
// told and gives the rate, in calls a second, or the median time of a call.
#ifndef WEIR_BENCH_REDIS_RUNS_H_
#define WEIR_BENCH_REDIS_RUNS_H_

#include <chrono>
#include <string>

#include "backends/redis/call.h"

namespace weir::bench {

struct Target {
  int port;
  redis::Script script;
  std::string key = "key:__rand_int__";  // as redis-benchmark is told
  std::chrono::milliseconds time;
  // The port of TLS and the authority's certificate, where it goes by TLS.
  int tls_port = 0;
  std::string ca_file;
};

struct Speed {
  double per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
};

// The command line of redis-benchmark for these clients and this pipeline.
std::string RedisBenchmarkCommand(const Target& target, int clients,
                                  int pipeline);
Speed RunRedisBenchmark(const std::string& command);

// One thread, one blocking connection.
Speed RunBareHiredis(const Target& target);
// The same without a client: what is sent is written to the socket at once, and
// the thread asks the socket for the reply until it is there.
Speed RunBareSpin(const Target& target);

// Blocking callers on one connection.
Speed RunCallers(const Target& target, int callers,
                 std::chrono::microseconds spin);
// An I/O thread, so many calls in flight; each reply starts the next call.
Speed RunAsyncCalls(const Target& target, int in_flight);

}  // namespace weir::bench

#endif  // WEIR_BENCH_REDIS_RUNS_H_
