// Handles and batches: Bind and CheckMany beside loops that do nothing but what
// can't be avoided.
#include <memory>
#include <optional>
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

// Many keys and a limiter that knows them all, or the floor for as many. Shared
// by the threads of a run, made by the first.
struct Population {
  explicit Population(size_t count) : keys(count), floor(count) {
    MemoryStoreOptions options;
    options.max_keys = 0;
    limiter.emplace(
        *Limiter::Create(*MemoryStore::Create(options),
                         Limit::Gcra(100'000'000, seconds(1'000'000'000))));
    for (const std::string& key : keys.all()) {
      benchmark::DoNotOptimize(limiter->Check(key).ok());
    }
  }
  const Keys keys;
  KeyedCells floor;
  std::optional<Limiter> limiter;
};
std::unique_ptr<Population>& Made() {
  static auto* const made = new std::unique_ptr<Population>();
  return *made;
}

template <class CheckAll>
void Many(benchmark::State& state, CheckAll check_all) {
  if (state.thread_index() == 0) {
    Made() = std::make_unique<Population>(static_cast<size_t>(state.range(0)));
  }
  std::vector<std::string_view> batch(64);
  size_t position = static_cast<size_t>(state.thread_index()) * 7919;
  for (auto _ : state) {
    for (std::string_view& key : batch) key = Made()->keys.Next(&position);
    benchmark::DoNotOptimize(check_all(*Made(), batch));
  }
  state.SetItemsProcessed(state.iterations() * 64);
  if (state.thread_index() == 0) Made().reset();
}
void CheckMany(benchmark::State& state) {
  Many(state, [](Population& all, const std::vector<std::string_view>& batch) {
    return all.limiter->CheckMany(batch).size();
  });
}
void FloorMany(benchmark::State& state) {
  Many(state, [](Population& all, const std::vector<std::string_view>& batch) {
    uint64_t hashes[64];
    for (size_t i = 0; i < 64; ++i) hashes[i] = all.floor.Fetch(batch[i]);
    const uint64_t now = TimeStampCounter::Ticks();
    size_t passed = 0;
    for (const uint64_t hash : hashes) {
      passed += all.floor.Pass(hash, [now] { return now; }) ? 1 : 0;
    }
    return passed;
  });
}

BENCHMARK(FloorOwnClock)->Name("floor/counter_and_swap")->ThreadRange(1, 2);
BENCHMARK(FloorCallersTime)->Name("floor/swap");
BENCHMARK(BoundAllowed)->Name("weir/bound/allowed")->ThreadRange(1, 2);
BENCHMARK(BoundEveryField)->Name("weir/bound/every_field");
BENCHMARK(BoundDenied)->Name("weir/bound/denied")->ThreadRange(1, 2);
BENCHMARK(BoundCallersTime)->Name("weir/bound/callers_time");
BENCHMARK(FloorMany)
    ->Name("floor/many_of_64/keys")
    ->ArgsProduct({{1'000, 1'000'000}})
    ->ThreadRange(1, 2)
    ->UseRealTime();
BENCHMARK(CheckMany)
    ->Name("weir/check_many_of_64/keys")
    ->ArgsProduct({{1'000, 1'000'000}})
    ->ThreadRange(1, 2)
    ->UseRealTime();

}  // namespace
}  // namespace weir::bench
