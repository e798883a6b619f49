// What single calls cost while the embedded store grows, and under a flood:
// percentiles and the worst call, beside a run of the same length that only
// touches fresh pages at the same rate (what the machine itself does), in steps
// that are as long as a call is on average: what stops the process is as likely
// to be seen in one as in the other.
//
//   weir_growth [keys=10000000] [max_keys=0]     bytes a key too
//
// Prints one JSON object. Times are wall time, so a busy machine shows in both
// runs.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/latency.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

using weir::bench::Histogram;
using weir::bench::Memory;
using weir::bench::NowNs;

int main(int argc, char** argv) {
  const int64_t keys = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  weir::MemoryStoreOptions options;
  options.max_keys = argc > 2 ? std::atoll(argv[2]) : 0;
  options.max_bytes = 0;
  const int64_t before = Memory("VmRSS");
  const auto store = *weir::MemoryStore::Create(options);
  const auto limiter = *weir::Limiter::Create(
      store, weir::Limit::Gcra(1'000, std::chrono::hours(100'000)));
  Histogram calls;
  int64_t undecided = 0;
  char key[40];
  int64_t inside = 0;
  const int64_t start = NowNs();
  for (int64_t i = 0; i < keys; ++i) {
    std::snprintf(key, sizeof(key), "client:%013lld",
                  static_cast<long long>(i));
    const int64_t t = NowNs();
    if (!limiter.Check(std::string_view(key, 20)).ok()) ++undecided;
    const int64_t ns = NowNs() - t;
    calls.Add(ns);
    inside += ns;
  }
  const int64_t took = NowNs() - start;
  const int64_t held = store->counters().keys;
  const int64_t after = Memory("VmRSS");
  const int64_t peak = Memory("VmHWM");

  // The noise: as many timed steps in as long, 56 bytes of fresh memory each.
  Histogram noise;
  std::vector<char*> pages;
  const int64_t noise_start = NowNs();
  for (int64_t i = 0; i < keys; ++i) {
    const int64_t t = NowNs();
    if (i % 73 == 0) {
      pages.push_back(static_cast<char*>(std::malloc(4'096)));
      *pages.back() = 1;
    }
    while (NowNs() - t < inside / keys) {
    }
    noise.Add(NowNs() - t);
    while (NowNs() - noise_start < took / keys * i) {
    }
  }
  std::printf("{\"keys\": %lld, \"held\": %lld, \"undecided\": %lld, ",
              static_cast<long long>(keys), static_cast<long long>(held),
              static_cast<long long>(undecided));
  std::printf("\"ns_a_call\": %.1f, ",
              static_cast<double>(took) / static_cast<double>(keys));
  std::printf("\"bytes_a_key\": %.1f, \"peak_bytes_a_key\": %.1f, ",
              static_cast<double>(after - before) / static_cast<double>(held),
              static_cast<double>(peak - before) / static_cast<double>(held));
  calls.Print("calls");
  std::printf(", ");
  noise.Print("noise_floor");
  std::printf("}\n");
  for (char* page : pages) std::free(page);
  return 0;
}
