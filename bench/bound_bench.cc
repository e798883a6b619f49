// Handles and batches: Bind and CheckMany beside loops that do nothing but what
// can't be avoided.
#include <memory>
#include <string>
#include <vector>

#include "bench/floor.h"
#include "bench/keys.h"
#include "benchmark/benchmark.h"
#include "weir/bound_key.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

namespace weir::bench {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr int64_t kPlenty = 1'000'000'000'000;

struct Bound {
  explicit Bound(Limit limit)
      : limiter(*Limiter::Create(*MemoryStore::Create(), std::move(limit))),
        key(*limiter.Bind("client:0000000000000")) {}
  Limiter limiter;
  BoundKey key;
};

// Shared by the threads of a run.
Bound& Open() {
  static Bound* const bound = new Bound(Limit::Gcra(kPlenty, seconds(1)));
  return *bound;
}

Bound& Closed() {
  static Bound* const bound = [] {
    auto* b = new Bound(Limit::Gcra(1, hours(1)));
    benchmark::DoNotOptimize(b->key.Check().ok());
    return b;
  }();
  return *bound;
}

Cell& OneCell() {
  static Cell* const cell = new Cell();
  return *cell;
}

void FloorOwnClock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(OneCell().CheckNow());
}
void FloorCallersTime(benchmark::State& state) {
  uint64_t t = 0;
  for (auto _ : state) benchmark::DoNotOptimize(OneCell().Pass(++t));
}

void BoundAllowed(benchmark::State& state) {
  const BoundKey& key = Open().key;
  for (auto _ : state) benchmark::DoNotOptimize(key.Check()->allowed());
}
void BoundEveryField(benchmark::State& state) {
  const BoundKey& key = Open().key;
  for (auto _ : state) {
    const BoundDecision d = *key.Check();
    benchmark::DoNotOptimize(d.allowed());
    benchmark::DoNotOptimize(d.remaining());
    benchmark::DoNotOptimize(d.retry_after());
    benchmark::DoNotOptimize(d.reset_after());
  }
}
void BoundDenied(benchmark::State& state) {
  const BoundKey& key = Closed().key;
  for (auto _ : state) benchmark::DoNotOptimize(key.Check()->allowed());
}
void BoundCallersTime(benchmark::State& state) {
  const BoundKey& key = Open().key;
  int64_t us = 1'800'000'000'000'000;
  for (auto _ : state) {
    benchmark::DoNotOptimize(key.CheckAt(TimeFromMicros(++us))->allowed());
  }
}

void Many(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const Keys keys(count);
  MemoryStoreOptions options;
  options.max_keys = 0;
  const Limiter limiter = *Limiter::Create(*MemoryStore::Create(options),
                                           Limit::Gcra(1'000, hours(1'000)));
  for (const std::string& key : keys.all()) {
    benchmark::DoNotOptimize(limiter.Check(key).ok());
  }
  std::vector<std::string_view> batch(64);
  size_t position = 0;
  for (auto _ : state) {
    for (std::string_view& key : batch) key = keys.Next(&position);
    benchmark::DoNotOptimize(limiter.CheckMany(batch).size());
  }
  state.SetItemsProcessed(state.iterations() * 64);
}

BENCHMARK(FloorOwnClock)->Name("floor/counter_and_swap")->ThreadRange(1, 2);
BENCHMARK(FloorCallersTime)->Name("floor/swap");
BENCHMARK(BoundAllowed)->Name("weir/bound/allowed")->ThreadRange(1, 2);
BENCHMARK(BoundEveryField)->Name("weir/bound/every_field");
BENCHMARK(BoundDenied)->Name("weir/bound/denied")->ThreadRange(1, 2);
BENCHMARK(BoundCallersTime)->Name("weir/bound/callers_time");
BENCHMARK(Many)->Name("weir/check_many_of_64/keys")->Arg(1'000)->Arg(1'000'000);

}  // namespace
}  // namespace weir::bench
