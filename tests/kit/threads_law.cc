// Law 10: however many threads ask, the capacity is granted exactly, and
// nothing of what they give back is lost.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(ThreadsLaw)

namespace {

constexpr int kThreads = 16;

// Runs `body(n)` on many threads that begin together.
void OnManyThreads(const std::function<void(int)>& body) {
  std::atomic<int> waiting{kThreads};
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n) {
    threads.emplace_back([&, n] {
      waiting.fetch_sub(1);
      while (waiting.load() > 0) std::this_thread::yield();
      body(n);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// So large that a few hundred calls use up the capacity.
int64_t CostFor(int64_t capacity) { return capacity / 400 + 1; }

// Asks until it is denied a few times in a row; returns how often it passed.
// A store that denies nobody is not asked for ever.
int64_t AskUntilDenied(const std::function<bool()>& ask) {
  constexpr int64_t kFarTooMany = 5'000;
  int64_t passed = 0;
  for (int denied = 0; denied < 3 && passed < kFarTooMany;) {
    if (ask()) {
      ++passed;
    } else {
      ++denied;
    }
  }
  return passed;
}

}  // namespace

TEST_P(ThreadsLaw, TheCapacityIsGrantedExactly) {
  for (const Limit& limit : engine().samples) {
    SCOPED_TRACE(ToText(limit));
    const Setting setting = Explore(factory(), engine(), limit, rng_);
    if (setting.counts_denied) continue;
    Driver driver(factory().make(), limit, engine().registry);
    const int64_t cost = CostFor(setting.capacity);
    std::atomic<int64_t> granted{0};
    OnManyThreads([&](int) {
      granted += AskUntilDenied(
          [&] { return driver.Check("k", cost, setting.start).allowed; });
    });
    ASSERT_EQ(granted.load(), setting.capacity / cost);
    EXPECT_EQ(driver.Peek("k", 1, setting.start).remaining,
              setting.capacity % cost);
  }
}

TEST_P(ThreadsLaw, TheCapacityIsGrantedExactlyByTheStoresClock) {
  const Limit& limit = engine().samples.at(0);
  const Harness harness = factory().make();
  if (harness.clock == nullptr) return;  // A server's clock does not stand.
  const Setting setting = Explore(factory(), engine(), limit, rng_);
  Driver driver(harness, limit, engine().registry);
  std::atomic<int64_t> granted{0};
  OnManyThreads([&](int) {
    granted += AskUntilDenied([&] { return driver.CheckNow("k", 1).allowed; });
  });
  EXPECT_EQ(granted.load(), setting.capacity);
}

TEST_P(ThreadsLaw, TwoRulesGrantTheirJointNumber) {
  for (const Limit& limit : engine().samples) {
    SCOPED_TRACE(ToText(limit));
    const Setting setting = Explore(factory(), engine(), limit, rng_);
    if (setting.counts_denied) continue;
    std::vector<Rule> rules;
    rules.push_back(Rule{"wide", limit, false, std::nullopt});
    const int64_t narrow = setting.capacity / 2 + 1;
    rules.push_back(Rule{"narrow",
                         Limit::FixedWindow(narrow, std::chrono::hours(1)),
                         false, std::nullopt});
    const Harness harness = factory().make();
    Driver both(harness, rules, engine().registry);
    rules.pop_back();
    Driver wide(harness, rules, engine().registry);
    const int64_t cost = CostFor(setting.capacity);
    std::atomic<int64_t> granted{0};
    OnManyThreads([&](int) {
      granted += AskUntilDenied(
          [&] { return both.Check("k", cost, setting.start).allowed; });
    });
    const int64_t joint = std::min(setting.capacity, narrow) / cost;
    ASSERT_EQ(granted.load(), joint);
    // The denied calls charged neither.
    EXPECT_EQ(wide.Peek("k", 1, setting.start).remaining,
              setting.capacity - joint * cost);
  }
}

TEST_P(ThreadsLaw, KeysInAnyOrderNeitherBlockNorLeak) {
  const Limit& limit = engine().samples.at(0);
  const Setting setting = Explore(factory(), engine(), limit, rng_);
  std::vector<Rule> rules;
  for (const char* name : {"one", "two", "three"}) {
    rules.push_back(Rule{name, limit, false, std::nullopt});
  }
  Driver driver(factory().make(), rules, engine().registry);
  constexpr int kKeys = 8;
  std::atomic<int64_t> granted{0};
  OnManyThreads([&](int n) {
    Rng rng(Seed() + static_cast<uint64_t>(n));
    for (int i = 0; i < 300; ++i) {
      std::vector<std::string> keys;
      for (int k = 0; k < 3; ++k) {
        keys.push_back("key" + std::to_string(rng.Uniform(0, kKeys - 1)));
      }
      if (driver.Run(Op::kCheck, keys, {1}, setting.start).allowed) ++granted;
    }
  });
  // Each allowed call took 1 from one key of each rule, a denied one nothing.
  std::vector<int64_t> used(3, 0);
  for (int k = 0; k < kKeys; ++k) {
    const std::string key = "key" + std::to_string(k);
    const Decision d =
        driver.Run(Op::kPeek, {key, key, key}, {1}, setting.start);
    for (size_t r = 0; r < 3; ++r) {
      used[r] += setting.capacity - d.rules()[r].remaining;
    }
  }
  for (const int64_t u : used) EXPECT_EQ(u, granted.load());
}

TEST_P(ThreadsLaw, WhatIsGivenBackCanBeTakenAgain) {
  for (const Limit& limit : engine().samples) {
    SCOPED_TRACE(ToText(limit));
    const Setting setting = Explore(factory(), engine(), limit, rng_);
    if (setting.counts_denied) continue;
    Driver driver(factory().make(), limit, engine().registry);
    const int64_t cost = CostFor(setting.capacity);
    std::atomic<int64_t> held{0};
    OnManyThreads([&](int n) {
      Rng rng(Seed() + static_cast<uint64_t>(n));
      int64_t mine = 0;
      for (int i = 0; i < 100; ++i) {
        if (driver.Check("k", cost, setting.start).allowed) ++mine;
        if (mine > 0 && rng.OneIn(2)) {
          driver.Refund("k", cost, setting.start);
          --mine;
        }
      }
      held += mine;
    });
    ASSERT_EQ(driver.Peek("k", 1, setting.start).remaining,
              setting.capacity - held.load() * cost);
  }
}

}  // namespace testing
}  // namespace weir
