// The lock of a stripe, seen from outside: who waits for long leaves the
// processor to others.
#include "backends/memory/spin_lock.h"

#include <sys/resource.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace weir {
namespace {

// How often this thread has given up its processor to sleep; to yield is not
// that.
long Sleeps() {
  rusage usage = {};
  EXPECT_EQ(getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_nvcsw;
}

// What a thread of a higher rank does to one that it has taken the processor
// from while that held the lock: if it only yielded it would wait for ever.
TEST(Patience, SleepsInTheEnd) {
  const long before = Sleeps();
  Patience patience;
  for (int i = 0; i < 1'000 && Sleeps() == before; ++i) patience.Wait();
  EXPECT_GT(Sleeps(), before);
}

TEST(Patience, DoesNotSleepAtFirst) {
  const long before = Sleeps();
  Patience patience;
  for (int i = 0; i < 10; ++i) patience.Wait();
  EXPECT_EQ(Sleeps(), before);
}

TEST(SpinLock, LetsOneInAtATime) {
  constexpr int kRounds = 200'000;
  SpinLock lock;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const SpinLockHolder holder(&lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 4 * kRounds);
}

TEST(SpinLock, IsTriedWithoutWaiting) {
  SpinLock lock;
  {
    const SpinLockHolder holder(&lock);
    // By another thread: this one has it.
    std::thread([&lock] {
      const bool taken = lock.TryLock();
      EXPECT_FALSE(taken);
      if (taken) lock.Unlock();
    }).join();
  }
  const bool taken = lock.TryLock();
  EXPECT_TRUE(taken);
  if (taken) lock.Unlock();
}

}  // namespace
}  // namespace weir
