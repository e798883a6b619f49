// Calls ask for a table's memory before they have its lock, while others make
// it larger and smaller. That they read nothing that is gone, or half written,
// is for the sanitizers to see; that nothing is lost, for this test.
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(MemoryPrefetch, ThreadsFindTheirKeysWhileTheTableGrowsAndShrinks) {
  // Enough to outgrow the list of a table's pieces twice.
  constexpr int kPassing = 40'000;
  constexpr int kRounds = 3;
  const auto clock = std::make_shared<ManualClock>();
  MemoryStoreOptions options;
  options.stripes = 1;
  options.max_keys = 0;
  options.clock = clock;
  const std::shared_ptr<MemoryStore> store = *MemoryStore::Create(options);
  const Limiter lasting = *Limiter::Create(
      store,
      std::vector<Rule>{{"lasting", Limit::Gcra(1'000'000, hours(1'000))}});
  const Limiter passing = *Limiter::Create(
      store, std::vector<Rule>{{"passing", Limit::Gcra(1, milliseconds(1))}});

  std::atomic<bool> done{false};
  std::atomic<int64_t> asked[8] = {};
  const auto key_of = [](size_t i) { return "lasting:" + std::to_string(i); };
  const auto one_by_one = [&] {
    for (size_t i = 0; !done.load(); i = (i + 1) % 8) {
      if (lasting.Check(key_of(i))->allowed) ++asked[i];
    }
  };
  const auto all_at_once = [&] {
    std::vector<std::string> names;
    for (size_t i = 0; i < 8; ++i) names.push_back(key_of(i));
    const std::vector<std::string_view> keys(names.begin(), names.end());
    while (!done.load()) {
      const std::vector<absl::StatusOr<Decision>> all = lasting.CheckMany(keys);
      for (size_t i = 0; i < 8; ++i) {
        if (all[i]->allowed) ++asked[i];
      }
    }
  };
  std::vector<std::thread> threads;
  threads.emplace_back(one_by_one);
  threads.emplace_back(all_at_once);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kPassing; ++i) {
      ASSERT_TRUE(passing.Check("passing:" + std::to_string(i))->allowed);
    }
    clock->Advance(milliseconds(1));
    store->Sweep(0);
    ASSERT_LE(store->counters().keys, 8);
  }
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  // A key that was lost would have begun anew.
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(lasting.Peek(key_of(i))->remaining, 1'000'000 - asked[i].load());
  }
}

}  // namespace
}  // namespace weir
