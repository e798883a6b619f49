// The calibrated clock on a counter and a steady clock that the test moves.
#include "core/calibrated_clock.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/time_stamp_counter.h"
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

// Two cores whose counters are so far apart; the test says which one reads.
template <int kApartUs>
struct TwoCores : FakeSource<1000 + kApartUs> {
  using One = FakeSource<1000 + kApartUs>;
  static inline bool ahead = false;

  static uint64_t Ticks() {
    return One::Ticks() + (ahead ? kApartUs * 1000 : 0);
  }
  static uint64_t OrderedTicks() { return Ticks(); }
};

// How far a clock is from the steady clock at most, in us, over ten seconds on
// two such cores.
template <class Source>
int64_t FarthestInTenSeconds(const CalibratedClock<Source>& clock) {
  std::mt19937 random(1);
  int64_t farthest = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    Source::ahead = random() % 2 == 0;
    Source::Pass(10, 1000);
    farthest = std::max(farthest, std::abs(clock.Now() - Source::SteadyUs()));
  }
  return farthest;
}

TEST(CalibratedClock, IsNotDrivenAheadByCoresThatDisagree) {
  const CalibratedClock<TwoCores<100>> clock(0);
  EXPECT_LE(FarthestInTenSeconds(clock), 250);
}

TEST(CalibratedClock, GivesUpACounterThatIsSetBackAgainAndAgain) {
  using Source = TwoCores<5'000>;
  const CalibratedClock<Source> clock(0);
  EXPECT_LE(FarthestInTenSeconds(clock), 50'000);
  for (int i = 0; i < 100; ++i) {
    Source::ahead = !Source::ahead;
    Source::Pass(10, 1000);
    EXPECT_EQ(clock.Now(), Source::SteadyUs());
  }
}

// The first reading of the steady clock after `during` was set runs it.
struct Interrupted : FakeSource<7> {
  static inline std::function<void()> during;

  static int64_t SteadyNs() {
    if (during) std::exchange(during, nullptr)();
    return ns.load();
  }
};

TEST(CalibratedClock, NobodyWaitsForTheCallThatCalibrates) {
  const CalibratedClock<Interrupted> clock(0);
  clock.Now();
  Interrupted::Pass(2'000, 1000);
  const int64_t before = clock.Now();
  for (const int64_t pass : {5'000, 4'001, 90'000}) {
    Interrupted::Pass(pass, 1000);
    int64_t meanwhile = 0;
    Interrupted::during = [&] {
      std::thread([&] { meanwhile = clock.Now(); }).join();
    };
    const int64_t after = clock.Now();
    EXPECT_FALSE(Interrupted::during) << "nobody calibrated";
    EXPECT_GE(meanwhile, before);
    EXPECT_LE(meanwhile, after);
    EXPECT_LE(std::abs(meanwhile - Interrupted::SteadyUs()),
              CalibratedClock<Interrupted>::kMarginUs + 1);
  }
}

TEST(CalibratedClock, NobodyWaitsWhileTheRateIsNotKnown) {
  using Source = Interrupted;
  const CalibratedClock<Source> clock(0);
  int64_t meanwhile = 0;
  Source::during = [&] {
    std::thread([&] { meanwhile = clock.Now(); }).join();
  };
  EXPECT_GE(clock.Now(), meanwhile);
  EXPECT_LE(std::abs(meanwhile - Source::SteadyUs()), 1);
}

// A file that says what the kernel goes by.
class KernelsClockTest : public ::testing::Test {
 protected:
  const std::string path_ = ::testing::TempDir() + "weir_current_clocksource_" +
                            std::to_string(getpid());
  ~KernelsClockTest() override { std::remove(path_.c_str()); }
};

TEST_F(KernelsClockTest, IsTheOneThatTheFileNames) {
  EXPECT_FALSE(KernelGoesBy("tsc", path_));
  std::ofstream(path_) << "tsc\n";
  EXPECT_TRUE(KernelGoesBy("tsc", path_));
  std::ofstream(path_) << "tsc-early\n";
  EXPECT_FALSE(KernelGoesBy("tsc", path_));
  std::ofstream(path_) << "hpet\n";
  EXPECT_FALSE(KernelGoesBy("tsc", path_));
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
