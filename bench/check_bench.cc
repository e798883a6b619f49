// Check(key) on the embedded store: every engine of the registry, some numbers
// of keys and threads, allowed and denied, with rivals in the same run.
//
//   build/bench/weir_bench --benchmark_repetitions=5
//       --benchmark_enable_random_interleaving=true
//
// Read ratios within one run; single figures move with the machine.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "bench/floor.h"
#include "bench/keys.h"
#include "bench/rivals.h"
#include "benchmark/benchmark.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"
#include "weir/registry.h"

namespace weir::bench {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// The threads of a run all ask for them.
const Keys& KeysFor(size_t count) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  static std::map<size_t, std::unique_ptr<Keys>>* const made =
      new std::map<size_t, std::unique_ptr<Keys>>();
  std::unique_ptr<Keys>& keys = (*made)[count];
  if (keys == nullptr) keys = std::make_unique<Keys>(count);
  return *keys;
}

// A limit of this engine with this number for every count and this length for
// every duration. Parameters are found by type, so a new engine is measured
// unasked.
Limit Filled(const EngineInfo& engine, int64_t count, double real,
             Micros length) {
  Limit limit = Limit::Of(engine.name);
  for (const Field& field : engine.fields) {
    if (!field.fallback.empty()) continue;
    if (field.type == FieldType::kCount) {
      limit = limit.With(field.name, count);
    } else if (field.type == FieldType::kReal) {
      limit = limit.With(field.name, real);
    } else if (field.type == FieldType::kDuration) {
      limit = limit.With(field.name, length);
    }
  }
  return limit;
}

// Allows everything, or nothing after the first call. What allows everything
// comes back slowly (ten seconds a call), so that keys stay known; where an
// engine does not take that, a large limit that comes back at once.
Limit LimitOf(const EngineInfo& engine, bool denied) {
  if (denied) return Filled(engine, 1, 1.5, hours(1));
  Limit slow =
      Filled(engine, 100'000'000, 1e6, seconds(int64_t{1'000'000'000}));
  const Time now = TimeFromMicros(1'800'000'000'000'000);
  if (Registry::BuiltIn().Compile(slow, now).ok()) return slow;
  return Filled(engine, 1'000'000, 1e6, Micros(1));
}

// `check` decides a key; the first thread makes it, all of them ask it.
using Check = std::function<bool(std::string_view)>;
using MakeCheck = std::function<Check()>;

void Run(benchmark::State& state, const MakeCheck& make, size_t key_count,
         bool denied) {
  static Check check;
  const Keys& keys = KeysFor(key_count);
  if (state.thread_index() == 0) {
    check = make();
    for (const std::string& key : keys.all()) check(key);
  }
  size_t position = static_cast<size_t>(state.thread_index()) * 7919;
  int64_t allowed = 0;
  int64_t calls = 0;
  for (auto _ : state) {
    allowed += check(keys.Next(&position)) ? 1 : 0;
    ++calls;
  }
  if (denied ? allowed > calls / 2 : allowed < calls / 2) {
    state.SkipWithError("the answers are not what this row measures");
  }
}

MakeCheck Weir(Limit limit) {
  return [limit] {
    MemoryStoreOptions options;
    options.max_keys = 0;
    auto limiter = std::make_shared<Limiter>(
        *Limiter::Create(*MemoryStore::Create(options), limit));
    return [limiter](std::string_view key) {
      return limiter->Check(key)->allowed;
    };
  };
}

MakeCheck Of(std::unique_ptr<Rival> (*make)()) {
  return [make] {
    std::shared_ptr<Rival> rival = make();
    return [rival](std::string_view key) { return rival->Check(key); };
  };
}

MakeCheck Floor(size_t key_count) {
  return [key_count] {
    const auto cells = std::make_shared<KeyedCells>(key_count);
    return [cells](std::string_view key) { return cells->Check(key); };
  };
}

constexpr size_t kKeyCounts[] = {1, 1'000, 1'000'000};

void RegisterOne(const std::string& name, const MakeCheck& make, size_t keys,
                 bool denied) {
  for (const int threads : {1, 2}) {
    benchmark::RegisterBenchmark(
        (name + "/keys:" + std::to_string(keys)).c_str(),
        [make, keys, denied](benchmark::State& state) {
          Run(state, make, keys, denied);
        })
        ->Threads(threads)
        ->UseRealTime();
  }
}

void Register(const std::string& name, const MakeCheck& make, bool denied) {
  for (const size_t keys : kKeyCounts) RegisterOne(name, make, keys, denied);
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  using namespace weir::bench;  // NOLINT: this file's own names
  for (const size_t keys : kKeyCounts) {
    RegisterOne("floor/one_line", Floor(keys), keys, false);
  }
  Register("rival/one_map", Of(&OneMap), false);
  Register("rival/striped_map", Of(&StripedMap), false);
  for (const weir::EngineInfo* engine : weir::Registry::BuiltIn().engines()) {
    const std::string name = "weir/" + std::string(engine->name);
    Register(name + "/allowed", Weir(LimitOf(*engine, false)), false);
    Register(name + "/denied", Weir(LimitOf(*engine, true)), true);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
