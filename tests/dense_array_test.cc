// The array that tables are made of, looked at by who does not hold its lock.
#include "backends/memory/dense_array.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr size_t kStride = 64;
// The list of pieces outgrows its room three times on the way.
constexpr uint32_t kMany = 40 * DenseArray::kBlockElements;

void GrowTo(uint32_t size, DenseArray* array) {
  while (array->size() < size) array->Append();
}
void ShrinkTo(uint32_t size, DenseArray* array) {
  while (array->size() > size) array->Pop();
}

TEST(DenseArray, IsGlimpsedWhereItsElementsLie) {
  BlockPool pool;
  DenseArray array(&pool, kStride);
  const auto expect_all = [&] {
    for (uint32_t i = 0; i < array.size(); ++i) {
      ASSERT_EQ(array.Glimpse(i, kStride), array[i])
          << i << " of " << array.size();
    }
  };
  for (uint32_t size = 1; size < kMany; size = size * 3 / 2 + 1) {
    GrowTo(size, &array);
    expect_all();
  }
  ShrinkTo(100, &array);
  expect_all();
  GrowTo(kMany, &array);
  expect_all();
}

// Nothing but the number of elements, which is made known as an index does it,
// orders what these threads do, so that the sanitizers see each read that is
// not atomic, and each of what is gone.
TEST(DenseArray, IsGlimpsedByThreadsWhileItGrowsAndShrinks) {
  BlockPool pool;
  std::optional<DenseArray> array;
  for (int round = 0; round < 20; ++round) {
    array.emplace(&pool, kStride);
    GrowTo(1, &*array);
    // It was as large as this at some time.
    std::atomic<uint32_t> known{1};
    // relaxed: nothing but the array is shared, and it must bear that.
    std::atomic<bool> done{false};
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (uint32_t first = 0; first < 2; ++first) {
      threads.emplace_back([&, first] {
        uint64_t glimpsed = 0;
        for (uint32_t i = first; !done.load(std::memory_order_relaxed); ++i) {
          const auto at = reinterpret_cast<uintptr_t>(array->Glimpse(
              i * 7919 % known.load(std::memory_order_acquire), kStride));
          // Never half of an address.
          ASSERT_EQ(at % kStride, 0U);
          if (glimpsed++ == 1000) ready.fetch_add(1, std::memory_order_relaxed);
        }
      });
    }
    while (ready.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
    for (int i = 0; i < 3; ++i) {
      for (uint32_t size = 1; size <= kMany; ++size) {
        GrowTo(size, &*array);
        known.store(size, std::memory_order_release);
      }
      ShrinkTo(1, &*array);
    }
    done.store(true, std::memory_order_relaxed);
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace weir
