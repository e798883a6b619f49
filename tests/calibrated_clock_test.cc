// The calibrated clock on a counter and a steady clock that the test moves.
#include "core/calibrated_clock.h"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace weir {
namespace {

// Each test has a source of its own by its number.
template <int kTest>
struct FakeSource {
  static inline std::atomic<uint64_t> ticks{1'000'000};
  static inline std::atomic<int64_t> ns{5'000'000'000};
  static inline bool usable = true;

  static bool Usable() { return usable; }
  static uint64_t Ticks() { return ticks.load(); }
  static uint64_t OrderedTicks() { return ticks.load(); }
  static int64_t SteadyNs() { return ns.load(); }

  // Lets time pass, at so many ticks a microsecond.
  static void Pass(int64_t us, double ticks_a_us) {
    ns += us * 1000;
    ticks += static_cast<uint64_t>(static_cast<double>(us) * ticks_a_us);
  }
  static int64_t SteadyUs() { return ns.load() / 1000; }
};

TEST(CalibratedClock, FollowsTheSteadyClockWithinItsBound) {
  using Source = FakeSource<1>;
  const CalibratedClock<Source> clock(7);
  int64_t last = clock.Now();
  double rate = 2300;
  for (int i = 0; i < 200'000; ++i) {
    // The rate wanders by up to 500 ppm, as a clock that is disciplined does.
    rate = 2300 * (1 + 0.0005 * ((i / 100) % 3 - 1));
    Source::Pass(1 + (i * 7919) % 900, rate);
    const int64_t now = i % 2 == 0 ? clock.Now() : clock.Early();
    ASSERT_GE(now, last) << i;
    last = now;
    ASSERT_LE(std::abs(now - 7 - Source::SteadyUs()), 6) << i;
  }
}

TEST(CalibratedClock, IsReadFromTheCounterOnceItsRateIsKnown) {
  using Source = FakeSource<2>;
  const CalibratedClock<Source> clock(0);
  clock.Now();
  Source::Pass(2'000, 1000);
  const int64_t start = clock.Now();
  // The steady clock stands still here: only the counter can tell.
  Source::ticks += 500'000;
  EXPECT_EQ(clock.Now(), start + 500);
}

TEST(CalibratedClock, SeesASleepBeforeItGivesATime) {
  using Source = FakeSource<3>;
  const CalibratedClock<Source> clock(0);
  clock.Now();
  Source::Pass(2'000, 1000);
  const int64_t before = clock.Now();
  // The counter ran on for an hour, the steady clock did not.
  Source::ticks += uint64_t{3'600'000'000} * 1000;
  const int64_t after = clock.Now();
  EXPECT_GE(after, before);
  EXPECT_LE(after, before + CalibratedClock<Source>::kSpanUs);
  // And the other way round.
  Source::ns += int64_t{3'600'000'000} * 1000;
  EXPECT_GE(clock.Now(), before);
  for (int i = 0; i < 100; ++i) {
    Source::Pass(5'000, 1000);
    clock.Now();
  }
  EXPECT_LE(std::abs(clock.Now() - Source::SteadyUs()), 1);
}

TEST(CalibratedClock, NeverRunsBackWhenTheCounterIsSetBack) {
  using Source = FakeSource<4>;
  const CalibratedClock<Source> clock(0);
  clock.Now();
  Source::Pass(2'000, 1000);
  int64_t last = clock.Now();
  Source::ticks = 5;
  for (int i = 0; i < 1000; ++i) {
    Source::Pass(100, 1000);
    const int64_t now = clock.Now();
    ASSERT_GE(now, last) << i;
    last = now;
  }
  EXPECT_LE(std::abs(last - Source::SteadyUs()), 1);
}

TEST(CalibratedClock, IsTheSteadyClockWhereThereIsNoCounter) {
  using Source = FakeSource<5>;
  Source::usable = false;
  const CalibratedClock<Source> clock(3);
  EXPECT_EQ(clock.Now(), Source::SteadyUs() + 3);
  Source::ns += 1'234'000;
  EXPECT_EQ(clock.Early(), Source::SteadyUs() + 3);
}

TEST(CalibratedClock, NoThreadSeesATimeBeforeOneThatAnotherHasSeen) {
  using Source = FakeSource<6>;
  const CalibratedClock<Source> clock(0);
  std::atomic<int64_t> seen{0};
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (int n = 0; n < 3; ++n) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        const int64_t before = seen.load();
        const int64_t now = clock.Now();
        if (now < before) wrong = true;
        int64_t old = seen.load();
        while (old < now && !seen.compare_exchange_weak(old, now)) {
        }
        // Both together, as far as a reader can tell: the counter first.
        Source::ticks += 100'000;
        Source::ns += 100'000;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(wrong);
}

}  // namespace
}  // namespace weir
