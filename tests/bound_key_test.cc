// A handle answers as a call by key does, whoever else is at work on the key.
#include "weir/bound_key.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weir/memory_store.h"
#include "weir/registry.h"
#include "weir/testing/engine_samples.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class BoundKeyTest : public ::testing::Test {
 protected:
  std::shared_ptr<MemoryStore> Make(int64_t max_keys = 0) {
    MemoryStoreOptions options;
    options.clock = clock_;
    options.max_keys = max_keys;
    options.stripes = 4;
    return *MemoryStore::Create(options);
  }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
};

// Every field.
void ExpectAlike(const Decision& d, const BoundDecision& b) {
  ASSERT_EQ(b.allowed(), d.allowed);
  ASSERT_EQ(b.limit(), d.limit);
  ASSERT_EQ(b.remaining(), d.remaining);
  ASSERT_EQ(b.retry_after(), d.retry_after);
  ASSERT_EQ(b.reset_after(), d.reset_after);
  ASSERT_EQ(b.never(), d.never());
}

TEST_F(BoundKeyTest, AnswersAsACallByKeyForEveryEngine) {
  testing::Rng rng = testing::TestRng();
  for (const EngineInfo* engine : Registry::BuiltIn().engines()) {
    for (const Limit& limit : testing::SampleLimits(engine->name)) {
      const Limiter bound = *Limiter::Create(Make(), limit);
      const Limiter plain = *Limiter::Create(Make(), limit);
      const BoundKey handle = *bound.Bind("key");
      for (int i = 0; i < 400; ++i) {
        const int64_t cost = static_cast<int64_t>(rng.Next() % 3);
        const absl::StatusOr<Decision> d = plain.Check("key", cost);
        ASSERT_TRUE(d.ok());
        // By key and by handle, it is one state.
        if (rng.Next() % 4 == 0) {
          ASSERT_EQ(bound.Check("key", cost)->remaining, d->remaining);
        } else {
          const absl::StatusOr<BoundDecision> b = handle.Check(cost);
          ASSERT_TRUE(b.ok());
          ASSERT_NO_FATAL_FAILURE(ExpectAlike(*d, *b)) << engine->name;
        }
        if (rng.Next() % 16 == 0) {
          ASSERT_TRUE(plain.Refund("key", 1).ok());
          ASSERT_TRUE(bound.Refund("key", 1).ok());
        }
        if (rng.Next() % 64 == 0) {
          ASSERT_TRUE(plain.Reset("key").ok());
          ASSERT_TRUE(bound.Reset("key").ok());
        }
        const int64_t step = static_cast<int64_t>(
            rng.Next() % 5 == 0 ? rng.Next() % 3'000'000 : rng.Next() % 20'000);
        // Now and then the clock goes back.
        clock_->Advance(Micros(rng.Next() % 20 == 0 ? -step : step));
      }
    }
  }
}

TEST_F(BoundKeyTest, ObeysANewLimitAtTheNextCall) {
  Limiter limiter = *Limiter::Create(Make(), Limit::Gcra(10, hours(1)));
  const BoundKey handle = *limiter.Bind("a");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(handle.Check()->allowed());
  ASSERT_TRUE(limiter.Update(Limit::Gcra(5, hours(1))).ok());
  absl::StatusOr<BoundDecision> d = handle.Check();
  EXPECT_TRUE(d->allowed());
  EXPECT_EQ(d->limit(), 5);
  EXPECT_EQ(d->remaining(), 0);
  EXPECT_FALSE(handle.Check()->allowed());
  // To another algorithm: it starts afresh. To nothing: all is denied.
  ASSERT_TRUE(limiter.Update(Limit::SlidingLog(2, hours(1))).ok());
  EXPECT_EQ(handle.Check()->remaining(), 1);
  ASSERT_TRUE(limiter.Update(Limit::Gcra(0, hours(1))).ok());
  EXPECT_TRUE(handle.Check()->never());
  ASSERT_TRUE(limiter.Update(Limit::Gcra(6, hours(1))).ok());
  EXPECT_TRUE(handle.Check()->allowed());
  EXPECT_FALSE(handle.Check()->allowed());
}

TEST_F(BoundKeyTest, CountsAsAKeyUntilItsLastHandleGoes) {
  const auto store = Make(1);
  const Limiter limiter = *Limiter::Create(store, Limit::Gcra(2, seconds(1)));
  {
    const BoundKey one = *limiter.Bind("a");
    BoundKey two = *limiter.Bind("a");
    EXPECT_EQ(store->counters().keys, 1);
    EXPECT_EQ(limiter.Bind("b").status().code(),
              absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(one.Check()->allowed());
    const BoundKey moved = std::move(two);
    EXPECT_TRUE(moved.Check()->allowed());
    EXPECT_FALSE(one.Check()->allowed());
    clock_->Advance(seconds(10));
    EXPECT_EQ(store->Sweep(), 0);
    EXPECT_TRUE(one.Check()->allowed());
  }
  // What was used is in the entry again.
  EXPECT_EQ(limiter.Peek("a")->remaining, 1);
  clock_->Advance(seconds(10));
  EXPECT_EQ(store->Sweep(), 1);
  EXPECT_EQ(store->counters().keys, 0);
}

TEST_F(BoundKeyTest, TakesAStateOfAnotherFormAndGivesItBack) {
  // The state of the first lies in one word, that of the second in two.
  const int64_t few = 10;
  const int64_t many = 1009;
  // Some of these keys would have no room beside the longer state.
  for (const size_t size : {3, 20, 108, 109, 116, 117, 300}) {
    const std::string name(size, 'k');
    Limiter limiter = *Limiter::Create(Make(), Limit::Gcra(few, hours(1)));
    // All of them lie beside each other.
    std::vector<std::string> others;
    for (int i = 10; i < 30; ++i) {
      others.push_back(name.substr(2) + std::to_string(i));
      ASSERT_TRUE(limiter.Check(others.back(), 3)->allowed);
    }
    ASSERT_TRUE(limiter.Check(name, 3)->allowed);
    int64_t used = 3;
    for (const int64_t capacity : {many, few, many}) {
      ASSERT_TRUE(limiter.Update(Limit::Gcra(capacity, hours(1))).ok());
      {
        const BoundKey handle = *limiter.Bind(name);
        ASSERT_EQ(handle.Check()->remaining(), capacity - ++used);
        ASSERT_EQ(limiter.Bind(name)->Check()->remaining(), capacity - ++used);
      }
      ASSERT_EQ(limiter.Check(name, 0)->remaining, capacity - used);
      for (const std::string& key : others) {
        ASSERT_EQ(limiter.Check(key, 0)->remaining, capacity - 3);
      }
    }
    // And by key.
    ASSERT_TRUE(limiter.Update(Limit::Gcra(few, hours(1))).ok());
    for (const std::string& key : others) {
      ASSERT_EQ(limiter.Check(key)->remaining, few - 4);
    }
  }
}

TEST_F(BoundKeyTest, KeepsItsStoreAliveWithoutTheLimiter) {
  std::optional<BoundKey> handle;
  {
    const Limiter limiter = *Limiter::Create(Make(), Limit::Gcra(1, hours(1)));
    handle.emplace(*limiter.Bind("a"));
  }
  EXPECT_TRUE(handle->Check()->allowed());
  EXPECT_FALSE(handle->Check()->allowed());
  EXPECT_FALSE(handle->Check(-1).ok());
}

TEST_F(BoundKeyTest, GoesByKeyWhereALimiterHasSeveralRules) {
  std::vector<Rule> rules;
  rules.push_back(Rule{"one", Limit::Gcra(3, hours(1))});
  rules.push_back(Rule{"two", Limit::FixedWindow(2, hours(1))});
  const Limiter limiter = *Limiter::Create(Make(), rules);
  const BoundKey handle = *limiter.Bind("a");
  EXPECT_EQ(handle.Check()->remaining(), 1);
  EXPECT_TRUE(handle.Check()->allowed());
  EXPECT_FALSE(handle.Check()->allowed());
}

TEST_F(BoundKeyTest, GoesByKeyWhereARebindFindsNoRoom) {
  MemoryStoreOptions options;
  options.clock = clock_;
  options.max_keys = 0;
  options.max_bytes = 400;
  const auto store = *MemoryStore::Create(options);
  Limiter limiter = *Limiter::Create(store, Limit::Gcra(10, hours(1)));
  const BoundKey handle = *limiter.Bind("a");
  ASSERT_TRUE(handle.Check()->allowed());
  // The key is known under the limit that comes, without a handle.
  const Limiter other =
      *Limiter::Create(store, Limit::FixedWindow(9, hours(1)));
  ASSERT_TRUE(other.Check("a")->allowed);
  std::vector<std::string> names;
  while (other.Check(std::to_string(names.size())).ok()) {
    names.push_back(std::to_string(names.size()));
  }
  ASSERT_TRUE(limiter.Update(Limit::FixedWindow(9, hours(1))).ok());
  const int64_t refused = store->counters().refused;
  for (int64_t left = 7; left >= 0; --left) {
    const absl::StatusOr<BoundDecision> d = handle.Check();
    ASSERT_TRUE(d.ok()) << d.status();
    ASSERT_EQ(d->limit(), 9);
    ASSERT_EQ(d->remaining(), left);
    ASSERT_EQ(d->reset_after(), limiter.Peek("a")->reset_after);
  }
  EXPECT_FALSE(handle.Check()->allowed());
  EXPECT_EQ(store->counters().refused, refused);
  // As soon as there is room it is bound.
  for (const std::string& name : names) ASSERT_TRUE(other.Reset(name).ok());
  const int64_t bytes = store->counters().bytes;
  EXPECT_FALSE(handle.Check()->allowed());
  EXPECT_GT(store->counters().bytes, bytes);
}

// Whatever rules other calls of the handle had read before.
TEST_F(BoundKeyTest, ObeysAnUpdateThatHasReturnedWhileOthersCall) {
  constexpr int64_t kLimit = 1'000'000'000;
  Limiter limiter =
      *Limiter::Create(Make(), Limit::FixedWindow(kLimit, hours(1)));
  const BoundKey handle = *limiter.Bind("a");
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!done) ASSERT_TRUE(handle.Check().ok());
    });
  }
  int64_t late = 0;
  for (int64_t i = 1; i <= 20'000; ++i) {
    const int64_t limit = kLimit + i % 2;
    ASSERT_TRUE(limiter.Update(Limit::FixedWindow(limit, hours(1))).ok());
    for (int call = 0; call < 3; ++call) {
      late += handle.Check()->limit() != limit ? 1 : 0;
    }
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(late, 0);
}

// Handles, calls by key, calls with two rules, sweeps, updates and handles that
// come and go, on one key: what is granted is the capacity, to the unit.
TEST_F(BoundKeyTest, GrantsTheCapacityToTheUnit) {
  constexpr int64_t kCapacity = 20'000;
  const auto store = Make();
  const auto two_rules = [](int64_t capacity) {
    std::vector<Rule> rules;
    rules.push_back(Rule{"default", Limit::Gcra(capacity, hours(1000))});
    rules.push_back(Rule{"other", Limit::FixedWindow(1'000'000, hours(1000))});
    return rules;
  };
  Limiter single = *Limiter::Create(store, Limit::Gcra(kCapacity, hours(1000)));
  const Limiter both = *Limiter::Create(store, two_rules(kCapacity));
  const BoundKey shared = *single.Bind("key");
  std::atomic<int64_t> granted{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  const auto run = [&](auto check) {
    threads.emplace_back([&granted, check] {
      for (int64_t i = 0; i < kCapacity / 2; ++i) {
        if (check(i)) granted.fetch_add(1);
      }
    });
  };
  run([&](int64_t) { return shared.Check()->allowed(); });
  run([&](int64_t) { return shared.Check()->allowed(); });
  run([&](int64_t) { return single.Check("key")->allowed; });
  run([&](int64_t) { return both.Check("key")->allowed; });
  run([&](int64_t i) {
    if (i % 64 != 0) return single.Check("key")->allowed;
    const BoundKey brief = *single.Bind("key");
    return brief.Check()->allowed();
  });
  std::thread other([&] {
    for (int i = 0; !stop.load(); ++i) {
      store->Sweep();
      const int64_t wide = i % 2 == 0 ? 61 : 60;
      const Limit same = Limit::Gcra(kCapacity, hours(1000));
      ASSERT_TRUE(single.Update(same.MaxWait(seconds(wide))).ok());
      std::this_thread::yield();
    }
  });
  for (std::thread& thread : threads) thread.join();
  stop = true;
  other.join();
  EXPECT_EQ(granted.load(), kCapacity);
}

}  // namespace
}  // namespace weir
