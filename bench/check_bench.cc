// Check(key) on the embedded store: every engine of the registry, some numbers
// of keys and threads, allowed and denied, with rivals in the same run. For
// gcra also keys of which some come much more often than others, keys that each
// come for the first time, and calls at the caller's time, so that the clocks
// don't count.
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
#include <vector>

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
const Keys& KeysFor(size_t count, Spread spread) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  static auto* const made =
      new std::map<std::pair<size_t, Spread>, std::unique_ptr<Keys>>();
  std::unique_ptr<Keys>& keys = (*made)[{count, spread}];
  if (keys == nullptr) keys = std::make_unique<Keys>(count, spread);
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

// `ask` decides a key; the first thread makes it, all of them ask it.
//
// The key's address and size go over one by one: a view that was written as two
// words and is copied as one, as a Call's key may be, waits until both are in
// the cache, behind all that was written before, so that no call's misses would
// begin before the last one's are over.
class Check {
 public:
  Check() = default;
  template <class Ask>
  Check(Ask ask)  // NOLINT: made as a std::function is
      : ask_([ask](const char* key, size_t size) mutable {
          return ask(std::string_view(key, size));
        }) {}

  bool operator()(std::string_view key) const {
    return ask_(key.data(), key.size());
  }

 private:
  std::function<bool(const char*, size_t)> ask_;
};
using MakeCheck = std::function<Check()>;

struct Row {
  std::string name;
  MakeCheck make;
  size_t keys;
  bool denied = false;
  Spread spread = Spread::kUniform;
};

void Run(benchmark::State& state, const Row& row) {
  static Check check;
  const Keys& keys = KeysFor(row.keys, row.spread);
  if (state.thread_index() == 0) {
    check = row.make();
    for (const std::string& key : keys.all()) check(key);
  }
  size_t position = static_cast<size_t>(state.thread_index()) * 7919;
  int64_t allowed = 0;
  int64_t calls = 0;
  for (auto _ : state) {
    allowed += check(keys.Next(&position)) ? 1 : 0;
    ++calls;
  }
  if (row.denied ? allowed > calls / 2 : allowed < calls / 2) {
    state.SkipWithError("the answers are not what this row measures");
  }
}

// Each key once, so that it is a new one. As many iterations as keys.
void RunNew(benchmark::State& state, const Row& row) {
  static Check check;
  const std::vector<std::string>& keys =
      KeysFor(row.keys, Spread::kUniform).all();
  if (state.thread_index() == 0) check = row.make();
  size_t next = keys.size() / static_cast<size_t>(state.threads()) *
                static_cast<size_t>(state.thread_index());
  bool allowed = true;
  for (auto _ : state) allowed = check(keys[next++]) && allowed;
  if (!allowed) state.SkipWithError("a new key was denied");
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

// The same at the caller's time, which goes on by a microsecond a call: for one
// thread.
constexpr int64_t kFirstUs = 1'800'000'000'000'000;

MakeCheck WeirAt(Limit limit) {
  return [limit] {
    MemoryStoreOptions options;
    options.max_keys = 0;
    auto limiter = std::make_shared<Limiter>(
        *Limiter::Create(*MemoryStore::Create(options), limit));
    return [limiter, us = kFirstUs](std::string_view key) mutable {
      Call call;
      call.keys = absl::MakeConstSpan(&key, 1);
      call.now = TimeFromMicros(++us);
      return limiter->Check(call)->allowed;
    };
  };
}

MakeCheck StripedMapAt() {
  return [] {
    std::shared_ptr<Rival> rival = StripedMap();
    return [rival, ns = 1000 * kFirstUs](std::string_view key) mutable {
      return rival->CheckAt(key, ns += 1000);
    };
  };
}

MakeCheck FloorAt(size_t key_count) {
  return [key_count] {
    const auto cells = std::make_shared<KeyedCells>(key_count);
    return [cells, t = uint64_t{0}](std::string_view key) mutable {
      return cells->Pass(cells->Fetch(key), [&t] { return ++t; });
    };
  };
}

constexpr size_t kKeyCounts[] = {1, 1'000, 1'000'000};
// Made once a repetition, since that takes seconds.
constexpr size_t kMostKeys = 10'000'000;

void Register(const Row& row, int most_threads = 2) {
  for (int threads = 1; threads <= most_threads; ++threads) {
    benchmark::internal::Benchmark* const made = benchmark::RegisterBenchmark(
        (row.name + "/keys:" + std::to_string(row.keys)).c_str(),
        [row](benchmark::State& state) { Run(state, row); });
    made->Threads(threads)->UseRealTime();
    if (row.keys >= kMostKeys) made->Iterations(1'000'000);
  }
}

void RegisterNew(const Row& row) {
  for (int threads = 1; threads <= 2; ++threads) {
    benchmark::RegisterBenchmark(
        (row.name + "/keys:" + std::to_string(row.keys)).c_str(),
        [row](benchmark::State& state) { RunNew(state, row); })
        ->Threads(threads)
        ->UseRealTime()
        ->Iterations(static_cast<int64_t>(row.keys) / threads);
  }
}

void RegisterAll() {
  const EngineInfo& gcra = *Registry::BuiltIn().Find("gcra");
  for (const size_t keys : kKeyCounts) {
    Register({"floor/one_line", Floor(keys), keys});
    Register({"floor/one_line/callers_time", FloorAt(keys), keys}, 1);
    Register({"rival/one_map", Of(&OneMap), keys});
    Register({"rival/striped_map", Of(&StripedMap), keys});
    Register({"rival/striped_map/callers_time", StripedMapAt(), keys}, 1);
    Register({"weir/gcra/callers_time", WeirAt(LimitOf(gcra, false)), keys}, 1);
    for (const EngineInfo* engine : Registry::BuiltIn().engines()) {
      const std::string name = "weir/" + std::string(engine->name);
      Register({name + "/allowed", Weir(LimitOf(*engine, false)), keys});
      Register({name + "/denied", Weir(LimitOf(*engine, true)), keys, true});
    }
  }
  Register({"floor/one_line", Floor(kMostKeys), kMostKeys});
  Register({"rival/striped_map", Of(&StripedMap), kMostKeys});
  Register({"weir/gcra/allowed", Weir(LimitOf(gcra, false)), kMostKeys});
  constexpr size_t kMany = 1'000'000;
  RegisterNew({"rival/striped_map/new", Of(&StripedMap), kMany});
  RegisterNew({"weir/gcra/new", Weir(LimitOf(gcra, false)), kMany});
  const auto zipf = [](const std::string& name, const MakeCheck& make) {
    Register({name, make, kMany, false, Spread::kZipf});
  };
  zipf("floor/one_line/zipf", Floor(kMany));
  zipf("rival/striped_map/zipf", Of(&StripedMap));
  zipf("weir/gcra/zipf", Weir(LimitOf(gcra, false)));
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  using namespace weir::bench;  // NOLINT: this file's own names
  RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
