// A published limiter of a system package, as a rival of one known key: the one
// that RocksDB paces its writes with (a token bucket, refilled every 100 ms,
// one mutex). Built where librocksdb-dev is installed.
#include <cstdint>
#include <memory>

#include "benchmark/benchmark.h"
#include "rocksdb/rate_limiter.h"

namespace weir::bench {
namespace {

// Enough that nobody waits.
constexpr int64_t kPlenty = 1'000'000'000'000;

void RocksDbAllowed(benchmark::State& state) {
  static rocksdb::RateLimiter* const limiter =
      rocksdb::NewGenericRateLimiter(kPlenty);
  for (auto _ : state) {
    limiter->Request(1, rocksdb::Env::IO_HIGH, nullptr,
                     rocksdb::RateLimiter::OpType::kWrite);
  }
}

BENCHMARK(RocksDbAllowed)
    ->Name("rival/rocksdb/allowed")
    ->Threads(1)
    ->Threads(2);

}  // namespace
}  // namespace weir::bench
