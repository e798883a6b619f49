#include "weir/clock.h"

#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace weir {
namespace {

using std::chrono::hours;

TEST(ManualClock, StandsStillUntilItIsMoved) {
  ManualClock clock(TimeFromMicros(7));
  EXPECT_EQ(clock.Now(), TimeFromMicros(7));
  EXPECT_EQ(clock.Now(), TimeFromMicros(7));
  clock.Advance(Micros(5));
  EXPECT_EQ(clock.Now(), TimeFromMicros(12));
  clock.Advance(Micros(-20));
  EXPECT_EQ(clock.Now(), TimeFromMicros(-8));
  clock.Set(TimeFromMicros(kMaxExact));
  EXPECT_EQ(ToMicros(clock.Now()), kMaxExact);
}

TEST(ManualClock, LosesNoAdvanceOfAnyThread) {
  ManualClock clock(TimeFromMicros(0));
  std::vector<std::thread> threads;
  for (int n = 0; n < 8; ++n) {
    threads.emplace_back([&clock] {
      for (int i = 0; i < 1000; ++i) clock.Advance(Micros(1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clock.Now(), TimeFromMicros(8000));
}

TEST(SteadyClock, ReadsAsUnixTime) {
  const SteadyClock clock;
  const auto now =
      std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now());
  // Only that it is the same epoch and unit; the system's clock may be set at
  // any moment.
  EXPECT_LT(clock.Now() - now, hours(24));
  EXPECT_LT(now - clock.Now(), hours(24));
}

TEST(SteadyClock, NeverRunsBack) {
  const SteadyClock clock;
  Time last = clock.Now();
  for (int i = 0; i < 100'000; ++i) {
    const Time now = clock.Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Time, GoesToMicrosecondsAndBack) {
  for (const int64_t us : {int64_t{0}, int64_t{-1}, kMaxExact, -kMaxExact}) {
    EXPECT_EQ(ToMicros(TimeFromMicros(us)), us);
  }
}

}  // namespace
}  // namespace weir
