// An hour of everything at once on the embedded store, or as long as is said:
// what single calls cost while limits of many kinds are asked, keys come,
// expire and are swept, batches and calls of two rules go on, limits are
// replaced, and handles are made and let go. Beside it a run a tenth as long
// that does nothing, in as many threads and in steps as long as a call is on
// average.
//
//   weir_mixed [seconds=3600] [threads=2] [keys=100000] [seed=1]
//
// Each of the keys has a state with each of ten limits. Prints one JSON object:
// for each kind of call percentiles and the worst, and what the process held
// after each tenth of the run. Times are wall time, so a busy machine shows in
// both runs.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/latency.h"
#include "weir/bound_key.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

namespace weir::bench {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

enum Kind {
  kCheck,      // one rule, any algorithm
  kNewKey,     // the same, of a key that was never asked
  kCheckMany,  // 16 keys
  kTwoRules,
  kPeek,
  kRefund,
  kReset,
  kBind,  // and let go
  kBound,
  kUpdate,
  kSweep,
  kKinds,
};
constexpr std::array<const char*, kKinds> kNames = {
    "check", "new_key", "check_many_16", "two_rules", "peek", "refund",
    "reset", "bind",    "bound_check",   "update",    "sweep"};
// Of a million calls.
constexpr std::array<int, kKinds> kShares = {680'000, 20'000, 20'000, 60'000,
                                             60'000,  40'000, 40'000, 20'000,
                                             59'890,  10,     100};

MemoryStoreOptions Unbounded() {
  MemoryStoreOptions options;
  options.max_keys = 0;
  options.max_bytes = 0;
  return options;
}

struct World {
  std::shared_ptr<MemoryStore> store = *MemoryStore::Create(Unbounded());
  std::vector<Limiter> limiters;
  std::optional<Limiter> both;
  std::atomic<bool> done{false};  // relaxed: nothing else hangs on it
  std::atomic<int64_t> undecided{0};
};

// Windows of a second to a minute, so that keys expire all the time, and one
// whose keys stay.
std::vector<Limit> Limits(int64_t more) {
  return {Limit::Gcra(100 + more, seconds(1)),
          Limit::Gcra(1'009, seconds(7)),
          Limit::Gcra(1'000, hours(1)),
          Limit::FixedWindow(50 + more, seconds(10)),
          Limit::SlidingWindowCounter(50, seconds(30)),
          Limit::WindowedTokenBucket(100, seconds(60), 20),
          Limit::BucketedWindow(50, seconds(5), milliseconds(500)),
          Limit::SlidingLog(30, seconds(20)),
          Limit::SlidingLogList(30 + more, seconds(2)),
          Limit::Ar1(40, 1.1, seconds(1))};
}

std::string KeyOf(uint64_t n) {
  char key[40];
  std::snprintf(key, sizeof(key), "client:%013llu",
                static_cast<unsigned long long>(n));
  std::string text(key);
  // Some are long.
  if (n % 64 == 0) text.append(n % 640, 'x');
  return text;
}

class Caller {
 public:
  Caller(World* world, uint64_t keys, uint64_t seed)
      : world_(*world), keys_(keys), random_(seed), fresh_(seed << 40) {}

  void Run() {
    std::discrete_distribution<int> draw(kShares.begin(), kShares.end());
    while (!world_.done.load(std::memory_order_relaxed)) {
      Call(static_cast<Kind>(draw(random_)));
    }
  }
  // By kind.
  const std::array<Histogram, kKinds>& times() const { return times_; }
  int64_t inside() const { return inside_; }

 private:
  // A few are asked most.
  std::string Key() {
    const uint64_t n = random_() % keys_;
    return KeyOf(random_() % 4 == 0 ? n % 100 : n);
  }

  template <class F>
  void Time(Kind kind, F call) {
    const int64_t start = NowNs();
    const bool decided = call();
    const int64_t ns = NowNs() - start;
    times_[kind].Add(ns);
    inside_ += ns;
    if (!decided) world_.undecided.fetch_add(1, std::memory_order_relaxed);
  }

  void Call(Kind kind) {
    const std::string key = kind == kNewKey ? KeyOf(fresh_++) : Key();
    Limiter& limiter = world_.limiters[random_() % world_.limiters.size()];
    switch (kind) {
      case kCheck:
      case kNewKey:
        return Time(kind, [&] { return limiter.Check(key).ok(); });
      case kCheckMany: {
        std::array<std::string, 16> keys;
        std::array<std::string_view, 16> views;
        for (size_t i = 0; i < keys.size(); ++i) views[i] = keys[i] = Key();
        return Time(kind, [&] {
          bool ok = true;
          for (const auto& d : limiter.CheckMany(views)) ok = ok && d.ok();
          return ok;
        });
      }
      case kTwoRules:
        return Time(kind, [&] { return world_.both->Check(key).ok(); });
      case kPeek:
        return Time(kind, [&] { return limiter.Peek(key).ok(); });
      case kRefund:
        return Time(kind, [&] { return limiter.Refund(key).ok(); });
      case kReset:
        return Time(kind, [&] { return limiter.Reset(key).ok(); });
      case kBind: {
        return Time(kind, [&] {
          absl::StatusOr<BoundKey> bound = limiter.Bind(key);
          const bool ok = bound.ok();
          if (ok) handles_[random_() % handles_.size()] = *std::move(bound);
          return ok;
        });
      }
      case kBound: {
        const std::optional<BoundKey>& handle =
            handles_[random_() % handles_.size()];
        if (!handle.has_value()) return;
        return Time(kind, [&] { return handle->Check().ok(); });
      }
      case kUpdate: {
        const size_t i = random_() % world_.limiters.size();
        const std::vector<Limit> limits =
            Limits(static_cast<int64_t>(random_() % 4));
        return Time(kind,
                    [&] { return world_.limiters[i].Update(limits[i]).ok(); });
      }
      case kSweep:
        return Time(kind, [&] {
          world_.store->Sweep(1'000);
          return true;
        });
      case kKinds:
        return;
    }
  }

  World& world_;
  const uint64_t keys_;
  std::mt19937_64 random_;
  uint64_t fresh_;  // keys that nobody else asks
  std::array<std::optional<BoundKey>, 1'000> handles_;
  std::array<Histogram, kKinds> times_;
  int64_t inside_ = 0;
};

// Steps of this length for so many seconds.
Histogram Noise(int threads, int64_t seconds_long, int64_t step_ns) {
  std::vector<Histogram> times(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (Histogram& mine : times) {
    running.emplace_back([&mine, seconds_long, step_ns] {
      const int64_t end = NowNs() + seconds_long * 1'000'000'000;
      for (int64_t t = NowNs(); t < end; t = NowNs()) {
        while (NowNs() - t < step_ns) {
        }
        mine.Add(NowNs() - t);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  Histogram all;
  for (const Histogram& one : times) all.Add(one);
  return all;
}

void PrintMemory(const World& world) {
  const MemoryStore::Counters c = world.store->counters();
  std::printf("{\"keys\": %lld, \"counted_bytes\": %lld, \"resident\": %lld}",
              static_cast<long long>(c.keys), static_cast<long long>(c.bytes),
              static_cast<long long>(Memory("VmRSS")));
}

void Run(int64_t seconds_long, int threads, uint64_t keys, uint64_t seed) {
  World world;
  size_t named = 0;
  for (Limit& limit : Limits(0)) {
    std::vector<Rule> rules;
    rules.push_back({"rule" + std::to_string(named++), std::move(limit)});
    world.limiters.push_back(*Limiter::Create(world.store, std::move(rules)));
  }
  world.both = *Limiter::Create(
      world.store,
      std::vector<Rule>{{"burst", Limit::Gcra(20, seconds(1))},
                        {"log", Limit::SlidingLog(100, seconds(30))}});
  std::vector<Caller> callers;
  callers.reserve(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    callers.emplace_back(&world, keys, seed + static_cast<uint64_t>(i));
  }
  for (Caller& caller : callers) {
    running.emplace_back([&caller] { caller.Run(); });
  }
  std::printf(
      "{\"seconds\": %lld, \"threads\": %d, \"seed\": %llu, \"held\": [",
      static_cast<long long>(seconds_long), threads,
      static_cast<unsigned long long>(seed));
  for (int tenth = 0; tenth < 10; ++tenth) {
    std::this_thread::sleep_for(milliseconds(100 * seconds_long));
    if (tenth > 0) std::printf(", ");
    PrintMemory(world);
  }
  world.done.store(true, std::memory_order_relaxed);
  for (std::thread& thread : running) thread.join();
  Histogram all;
  std::array<Histogram, kKinds> times;
  int64_t inside = 0;
  for (const Caller& caller : callers) {
    for (size_t i = 0; i < kKinds; ++i) {
      times[i].Add(caller.times()[i]);
      all.Add(caller.times()[i]);
    }
    inside += caller.inside();
  }
  const Histogram noise =
      Noise(threads, seconds_long / 10 + 1, inside / all.total());
  std::printf("], \"calls\": %lld, \"undecided\": %lld, ",
              static_cast<long long>(all.total()),
              static_cast<long long>(world.undecided.load()));
  for (size_t i = 0; i < kKinds; ++i) {
    times[i].Print(kNames[i]);
    std::printf(", ");
  }
  all.Print("all");
  std::printf(", \"noise_steps\": %lld, ",
              static_cast<long long>(noise.total()));
  noise.Print("noise");
  std::printf("}\n");
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  const auto given = [&](int i, int64_t usual) {
    return argc > i ? std::atoll(argv[i]) : usual;
  };
  weir::bench::Run(given(1, 3'600), static_cast<int>(given(2, 2)),
                   static_cast<uint64_t>(given(3, 100'000)),
                   static_cast<uint64_t>(given(4, 1)));
  return 0;
}
