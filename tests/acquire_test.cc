// Waiting for a turn: Acquire, Reserve, cancellation, shutdown.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/clocked_store.h"
#include "tests/distant_store.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class AcquireTest : public ClockedStore {
 protected:
  // Gives the others time until `done`; fails after half a minute.
  template <class Done>
  void Until(Done done) {
    const auto end = std::chrono::steady_clock::now() + seconds(30);
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "nothing happened";
      std::this_thread::yield();
    }
  }
};

TEST_F(AcquireTest, ReservationTakesItsPlaceAtOnce) {
  const Limiter limiter = Make(Limit::Gcra(1, seconds(1)));
  ASSERT_TRUE(limiter.Check("a")->allowed);
  for (int i = 1; i <= 3; ++i) {
    const auto r = limiter.Reserve("a", 1, seconds(10));
    ASSERT_TRUE(r.ok());
    EXPECT_TRUE(r->reserved());
    EXPECT_EQ(*r->wait(), seconds(i));
  }
  // The line is three seconds long; a fourth would wait four.
  const auto r = limiter.Reserve("a", 1, milliseconds(3999));
  ASSERT_TRUE(r.ok());
  EXPECT_FALSE(r->reserved());
  EXPECT_EQ(*r->wait(), seconds(4));
  EXPECT_EQ(*limiter.Peek("a")->retry_after, seconds(4));
}

TEST_F(AcquireTest, CancelGivesBackExactlyItsCostOnce) {
  const Limiter limiter = Make(Limit::Gcra(10, seconds(1)).Burst(10));
  ASSERT_TRUE(limiter.Check("a", 10)->allowed);
  auto r = limiter.Reserve("a", 7, seconds(10));
  ASSERT_TRUE(r.ok() && r->reserved());
  EXPECT_EQ(*r->wait(), milliseconds(700));
  EXPECT_EQ(limiter.Peek("a")->reset_after, milliseconds(1700));
  ASSERT_TRUE(r->Cancel().ok());
  EXPECT_EQ(limiter.Peek("a")->reset_after, seconds(1));
  ASSERT_TRUE(r->Cancel().ok());
  EXPECT_EQ(limiter.Peek("a")->reset_after, seconds(1));
}

TEST_F(AcquireTest, ReserveSaysWhyItCant) {
  const Limiter log = Make(Limit::SlidingLog(3, seconds(1)));
  auto r = log.Reserve("a", 1, seconds(1));
  EXPECT_EQ(r.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(r.status().ToString().find("sliding_log"), std::string::npos);

  const Limiter two = *Limiter::Create(
      store_, std::vector<Rule>{{"one", Limit::Gcra(3, seconds(1))},
                                {"two", Limit::Gcra(3, seconds(1))}});
  r = two.Reserve("a", 1, seconds(1));
  EXPECT_EQ(r.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(r.status().ToString().find("2 rules; allowed: one rule, enforced, "
                                       "of gcra, token_bucket, leaky_bucket or "
                                       "uniform"),
            std::string::npos)
      << r.status();
  Rule watching = {"one", Limit::Gcra(3, seconds(1))};
  watching.observe = true;
  r = Limiter::Create(store_, std::vector<Rule>{watching})
          ->Reserve("a", 1, seconds(1));
  EXPECT_EQ(r.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(r.status().ToString().find("rule \"one\" only observes"),
            std::string::npos)
      << r.status();

  const Limiter gcra = Make(Limit::Gcra(1, seconds(1)).MaxWait(seconds(5)));
  r = gcra.Reserve("a", 1, seconds(6));
  EXPECT_EQ(r.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(r.status().ToString().find("5s"), std::string::npos);

  const auto never = gcra.Reserve("a", 2, seconds(5));
  ASSERT_TRUE(never.ok());
  EXPECT_FALSE(never->reserved());
  EXPECT_FALSE(never->wait().has_value());
  EXPECT_EQ(gcra.Peek("a")->reset_after, Micros(0));
}

TEST_F(AcquireTest, AReservationIsHeldByOneOnly) {
  static_assert(!std::is_copy_constructible_v<Reservation>);
  static_assert(!std::is_copy_assignable_v<Reservation>);
  const Limiter limiter = Make(Limit::Gcra(10, seconds(10)));
  ASSERT_TRUE(limiter.Check("a", 8)->allowed);
  Reservation first = *limiter.Reserve("a", 2, Micros(0));
  Reservation second = std::move(first);
  EXPECT_TRUE(second.reserved());
  EXPECT_EQ(second.wait(), Micros(0));
  Reservation third;
  third = std::move(second);
  EXPECT_TRUE(third.reserved());
  for (Reservation* none : {&first, &second}) {
    EXPECT_FALSE(none->reserved());
    EXPECT_TRUE(none->Cancel().ok());
  }
  EXPECT_EQ(limiter.Peek("a")->remaining, 0);
  EXPECT_TRUE(third.Cancel().ok());
  EXPECT_EQ(limiter.Peek("a")->remaining, 2);
}

TEST_F(AcquireTest, AReservationOfNothingHoldsNothing) {
  Reservation none;
  EXPECT_FALSE(none.reserved());
  EXPECT_FALSE(none.wait().has_value());
  EXPECT_FALSE(none.decision().allowed);
  EXPECT_TRUE(none.Cancel().ok());
}

TEST_F(AcquireTest, CancelRefundsNoOtherAlgorithm) {
  Limiter limiter = Make(Limit::Gcra(10, seconds(10)));
  auto r = limiter.Reserve("a", 5, Micros(0));
  ASSERT_TRUE(r.ok() && r->reserved());
  ASSERT_TRUE(limiter.Update(Limit::FixedWindow(10, seconds(10))).ok());
  ASSERT_TRUE(limiter.Check("a", 10)->allowed);
  EXPECT_TRUE(r->Cancel().ok());
  EXPECT_EQ(limiter.Peek("a")->remaining, 0);
  // It had its one try.
  ASSERT_TRUE(limiter.Update(Limit::Gcra(10, seconds(10))).ok());
  EXPECT_TRUE(r->Cancel().ok());
  EXPECT_EQ(limiter.Peek("a")->remaining, 5);
}

TEST_F(AcquireTest, CancelGivesBackUnderTheLimitsOfNow) {
  Limiter limiter = Make(Limit::Gcra(10, seconds(10)));
  auto r = limiter.Reserve("a", 5, Micros(0));
  ASSERT_TRUE(r.ok() && r->reserved());
  ASSERT_TRUE(limiter.Update(Limit::Gcra(20, seconds(10))).ok());
  EXPECT_EQ(limiter.Peek("a")->remaining, 15);
  EXPECT_TRUE(r->Cancel().ok());
  EXPECT_EQ(limiter.Peek("a")->remaining, 20);
}

// What the header says of a Cancel that comes late.
TEST_F(AcquireTest, ALateCancelGivesBackItsCostAllTheSame) {
  const Limiter limiter = Make(Limit::Gcra(10, seconds(10)));
  auto acted = limiter.Reserve("a", 5, Micros(0));
  clock_->Advance(seconds(3));
  ASSERT_TRUE(limiter.Check("a", 8)->allowed);
  EXPECT_TRUE(acted->Cancel().ok());
  EXPECT_EQ(limiter.Peek("a")->remaining, 5);

  auto reset = limiter.Reserve("b", 5, Micros(0));
  ASSERT_TRUE(limiter.Reset("b").ok());
  ASSERT_TRUE(limiter.Check("b", 10)->allowed);
  EXPECT_TRUE(reset->Cancel().ok());
  EXPECT_EQ(limiter.Peek("b")->remaining, 5);

  ASSERT_TRUE(limiter.Check("c", 10)->allowed);
  auto ahead = limiter.Reserve("c", 5, seconds(60));
  auto behind = limiter.Reserve("c", 5, seconds(60));
  EXPECT_EQ(*behind->wait(), seconds(10));
  EXPECT_TRUE(ahead->Cancel().ok());
  EXPECT_EQ(*limiter.Peek("c", 5)->retry_after, seconds(10));
}

TEST_F(AcquireTest, ReservationOutlivesItsLimiter) {
  auto limiter = std::make_unique<Limiter>(Make(Limit::Gcra(1, seconds(1))));
  auto r = limiter->Reserve("a", 1, seconds(1));
  ASSERT_TRUE(r.ok() && r->reserved());
  limiter.reset();
  EXPECT_TRUE(r->Cancel().ok());
}

// A clock that knows when somebody waits by it, and never runs.
class WaitedForClock final : public Clock {
 public:
  Time Now() const override { return TimeFromMicros(1'700'000'000'000'000); }
  void WaitUntil(Time t, std::condition_variable& cv,
                 std::unique_lock<std::mutex>& lock) const override {
    waited = true;
    Clock::WaitUntil(t, cv, lock);
  }

  mutable std::atomic<bool> waited{false};
};

class GoneLimiter : public AcquireTest,
                    public ::testing::WithParamInterface<Limit> {
 protected:
  GoneLimiter() {
    MemoryStoreOptions options;
    options.clock = waited_for_;
    store_ = *MemoryStore::Create(options);
  }

  // Somebody waits while `end` makes an end of the limiter.
  template <class End>
  void EndWhileSomebodyWaits(End end) {
    auto limiter = std::make_unique<Limiter>(Make(GetParam()));
    ASSERT_TRUE(limiter->Check("a", 2)->allowed);
    const Micros reset = limiter->Peek("a")->reset_after;
    std::thread waiter([&waits = *limiter] {
      const auto d = waits.Acquire("a", 1, seconds(60));
      EXPECT_EQ(d.status().code(), absl::StatusCode::kCancelled) << d.status();
    });
    Until([&] { return waited_for_->waited.load(); });
    end(&limiter);
    waiter.join();
    EXPECT_EQ(Make(GetParam()).Peek("a")->reset_after, reset);
  }

  const std::shared_ptr<WaitedForClock> waited_for_ =
      std::make_shared<WaitedForClock>();
};

TEST_P(GoneLimiter, DestructionCallsOffWhoeverWaits) {
  EndWhileSomebodyWaits(
      [](std::unique_ptr<Limiter>* limiter) { limiter->reset(); });
}

TEST_P(GoneLimiter, AssignmentCallsOffWhoeverWaits) {
  EndWhileSomebodyWaits([this](std::unique_ptr<Limiter>* limiter) {
    **limiter = Make(Limit::Gcra(1, seconds(1)));
  });
}

INSTANTIATE_TEST_SUITE_P(Acquire, GoneLimiter,
                         ::testing::Values(Limit::Gcra(2, seconds(10)),
                                           Limit::FixedWindow(2, seconds(10))),
                         [](const ::testing::TestParamInfo<Limit>& i) {
                           return i.param.algorithm();
                         });

class EveryAlgorithm : public AcquireTest,
                       public ::testing::WithParamInterface<Limit> {};

TEST_P(EveryAlgorithm, WaitsItsTurn) {
  const Limiter limiter = Make(GetParam());
  ASSERT_TRUE(limiter.Check("a", 2)->allowed);
  const Decision before = *limiter.Peek("a");
  ASSERT_FALSE(before.allowed);
  const Time turn = clock_->Now() + *before.retry_after;
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    const auto d = limiter.Acquire("a", 1, seconds(60));
    EXPECT_TRUE(d.ok() && d->allowed) << d.status();
    EXPECT_GE(clock_->Now(), turn);
    done = true;
  });
  Until([&] {
    clock_->Advance(clock_->Now() < turn ? milliseconds(100) : Micros(1));
    return done.load();
  });
  waiter.join();
}

TEST_P(EveryAlgorithm, SaysAtOnceThatItWouldTakeTooLong) {
  const Limiter limiter = Make(GetParam());
  ASSERT_TRUE(limiter.Check("a", 2)->allowed);
  const auto d = limiter.Acquire("a", 1, Micros(1));
  ASSERT_TRUE(d.ok());
  EXPECT_FALSE(d->allowed);
  EXPECT_GT(*d->retry_after, Micros(1));
}

TEST_P(EveryAlgorithm, CancelledWaitChargesNothing) {
  const Limiter limiter = Make(GetParam());
  ASSERT_TRUE(limiter.Check("a", 2)->allowed);
  const Micros reset = limiter.Peek("a")->reset_after;
  Cancellation cancel;
  std::thread waiter([&] {
    const auto d = limiter.Acquire("a", 1, seconds(60), &cancel);
    EXPECT_EQ(d.status().code(), absl::StatusCode::kCancelled);
  });
  cancel.Cancel();
  waiter.join();
  EXPECT_EQ(limiter.Peek("a")->reset_after, reset);
  // Cancelled before it begins.
  EXPECT_EQ(limiter.Acquire("a", 1, seconds(60), &cancel).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_P(EveryAlgorithm, ShutdownWakesEverybody) {
  auto limiter = std::make_unique<Limiter>(Make(GetParam()));
  ASSERT_TRUE(limiter->Check("a", 2)->allowed);
  const Limiter watcher = Make(GetParam());
  const Micros reset = watcher.Peek("a")->reset_after;
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      const auto d = limiter->Acquire("a", 1, seconds(60));
      EXPECT_FALSE(d.ok() && d->allowed);
    });
  }
  limiter->Shutdown();
  for (std::thread& t : waiters) t.join();
  EXPECT_EQ(watcher.Peek("a")->reset_after, reset);
}

TEST_P(EveryAlgorithm, WhoComesAfterShutdownIsToldCancelled) {
  Limiter limiter = Make(GetParam());
  const Limiter watcher = Make(GetParam());
  limiter.Shutdown();
  // There is room; then, there never is.
  for (const int64_t cost : {1, 100}) {
    const auto d = limiter.Acquire("a", cost, Micros(0));
    EXPECT_EQ(d.status().code(), absl::StatusCode::kCancelled) << cost;
  }
  EXPECT_EQ(watcher.Peek("a")->reset_after, Micros(0));
  EXPECT_TRUE(limiter.Check("a")->allowed);
}

TEST_P(EveryAlgorithm, WhoIsCancelledAlreadyIsNotChargedEither) {
  const Limiter limiter = Make(GetParam());
  Cancellation cancel;
  cancel.Cancel();
  EXPECT_EQ(limiter.Acquire("a", 1, seconds(60), &cancel).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(limiter.Peek("a")->reset_after, Micros(0));
}

TEST_P(EveryAlgorithm, GrantsNoMoreThanTheLimitToAThrong) {
  const Limiter limiter = Make(GetParam());
  std::atomic<int> granted{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      const auto d = limiter.Acquire("a", 1, Micros(0));
      if (d.ok() && d->allowed) ++granted;
    });
  }
  for (std::thread& t : waiters) t.join();
  // Who finds another one in the line does not wait, and goes without.
  EXPECT_GE(granted, 1);
  EXPECT_LE(granted, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Acquire, EveryAlgorithm,
    ::testing::Values(
        Limit::Gcra(2, seconds(10)), Limit::TokenBucket(2, 1, seconds(5)),
        Limit::FixedWindow(2, seconds(10)), Limit::SlidingLog(2, seconds(10)),
        Limit::SlidingLogList(2, seconds(10)),
        Limit::SlidingWindowCounter(2, seconds(10)),
        Limit::WindowedTokenBucket(4, seconds(10), 2),
        Limit::BucketedWindow(2, seconds(10), seconds(1)).CountDenied(false),
        Limit::Ar1(2, 2, seconds(1)).CountDenied(false)),
    [](const ::testing::TestParamInfo<Limit>& i) {
      return i.param.algorithm();
    });

TEST_F(AcquireTest, FirstComeFirstServed) {
  constexpr int kWaiters = 4;
  const Limiter limiter = Make(Limit::SlidingLog(kWaiters, seconds(100)));
  for (int i = 0; i < kWaiters; ++i) {
    ASSERT_TRUE(limiter.Check("a")->allowed);
    clock_->Advance(seconds(1));
  }
  std::vector<int> order;
  std::mutex mutex;
  std::vector<std::thread> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    // Who would come next is told when all who are in line have been served.
    const Micros in_line = seconds(100 - kWaiters + i);
    Until([&] {
      const auto d = limiter.Acquire("a", 1, Micros(0));
      return d.ok() && !d->allowed && *d->retry_after == in_line;
    });
    waiters.emplace_back([&, i] {
      const auto d = limiter.Acquire("a", 1, seconds(1000));
      EXPECT_TRUE(d.ok() && d->allowed);
      const std::lock_guard<std::mutex> lock(mutex);
      order.push_back(i);
    });
  }
  Until([&] {
    const auto d = limiter.Acquire("a", 1, Micros(0));
    return d.ok() && !d->allowed && *d->retry_after == seconds(99);
  });
  clock_->Advance(seconds(100 - kWaiters));
  for (size_t served = 1; served <= kWaiters; ++served) {
    Until([&] {
      const std::lock_guard<std::mutex> lock(mutex);
      return order.size() >= served;
    });
    clock_->Advance(seconds(1));
  }
  for (std::thread& t : waiters) t.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(AcquireTest, WaitersObeyANewLimit) {
  Limiter limiter = Make(Limit::SlidingLog(1, hours(1)));
  ASSERT_TRUE(limiter.Check("a")->allowed);
  std::thread waiter([&] {
    const auto d = limiter.Acquire("a", 1, hours(2));
    EXPECT_TRUE(d.ok() && d->allowed) << d.status();
  });
  ASSERT_TRUE(limiter.Update(Limit::SlidingLog(2, hours(1))).ok());
  waiter.join();  // the clock has not moved
  EXPECT_EQ(limiter.Peek("a")->remaining, 0);
}

// A store that is far away: what happens while it answers a Peek.
TEST_F(AcquireTest, WaitersSeeWhatIsGivenBack) {
  const auto distant = std::make_shared<DistantStore>(store_);
  const Limiter limiter =
      *Limiter::Create(distant, Limit::FixedWindow(1, hours(24)));
  for (const bool reset : {false, true}) {
    ASSERT_TRUE(limiter.Reset("a").ok());
    ASSERT_TRUE(limiter.Check("a")->allowed);
    const int seen = distant->calls;
    std::atomic<bool> passed{false};
    std::thread waiter(
        [&] { passed = limiter.Acquire("a", 1, hours(48))->allowed; });
    // It has been told to wait, or will be.
    Until([&] { return distant->calls > seen; });
    ASSERT_TRUE((reset ? limiter.Reset("a") : limiter.Refund("a")).ok());
    waiter.join();
    EXPECT_TRUE(passed);
  }
}

// A plan that changes between two questions is asked for once.
TEST_F(AcquireTest, ReserveAsksForThePlanOnce) {
  int asked = 0;
  Rule rule{"r", Limit::FixedWindow(10, seconds(10))};
  rule.plans = {Limit::Gcra(10, seconds(10))};
  rule.plan_of = [&asked](std::string_view) { return asked++ == 0 ? 0 : -1; };
  const Limiter limiter = *Limiter::Create(store_, std::vector<Rule>{rule});
  const auto r = limiter.Reserve("a", 4, seconds(10));
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->decision().limit, 10);
  EXPECT_EQ(asked, 1);
}

TEST_F(AcquireTest, AShutdownBetweenPeekAndCheckChargesNothing) {
  const auto distant = std::make_shared<DistantStore>(store_);
  Limiter limiter =
      *Limiter::Create(distant, Limit::FixedWindow(2, seconds(10)));
  distant->before_answer = [&] { limiter.Shutdown(); };
  EXPECT_EQ(limiter.Acquire("a", 1, seconds(60)).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(distant->calls, 1);
  distant->before_answer = nullptr;
  EXPECT_EQ(limiter.Peek("a")->remaining, 2);
}

TEST_F(AcquireTest, WaitsForAsLongAsItTakes) {
  const Limiter limiter = Make(Limit::FixedWindow(1, hours(1)));
  ASSERT_TRUE(limiter.Check("a")->allowed);
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    const auto d = limiter.Acquire("a", 1, Micros::max());
    EXPECT_TRUE(d.ok() && d->allowed) << d.status();
    done = true;
  });
  Until([&] {
    clock_->Advance(seconds(60));
    return done.load();
  });
  waiter.join();
}

TEST_F(AcquireTest, BelievesTheStoreMoreThanTheDenialCache) {
  LimiterOptions options;
  options.denial_cache_keys = 10;
  const Limiter limiter =
      *Limiter::Create(store_, Limit::FixedWindow(1, hours(1)), options);
  const Limiter other = Make(Limit::FixedWindow(1, hours(1)));
  ASSERT_TRUE(limiter.Check("a")->allowed);
  ASSERT_FALSE(limiter.Check("a")->allowed);
  ASSERT_TRUE(other.Reset("a").ok());
  ASSERT_EQ(limiter.Check("a")->source, Source::kDenialCache);
  // The clock stands still.
  EXPECT_TRUE(limiter.Acquire("a", 1, Micros(1))->allowed);
}

TEST_F(AcquireTest, RefusesTimesOfItsOwnAndNegativeWaits) {
  const Limiter limiter = Make(Limit::Gcra(1, seconds(1)));
  EXPECT_EQ(limiter.Acquire("a", 1, Micros(-1)).status().code(),
            absl::StatusCode::kInvalidArgument);
  Call call;
  const std::string_view key = "a";
  call.keys = absl::MakeConstSpan(&key, 1);
  call.now = clock_->Now();
  EXPECT_EQ(limiter.Acquire(call, seconds(1)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weir
